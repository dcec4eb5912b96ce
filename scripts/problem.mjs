/** Something that went wrong in a way people can put right: its message says what and how, and is shown without a
 * stack. */
export class Problem extends Error {
  /** @override */
  name = 'Problem'
}
