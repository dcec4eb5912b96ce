/** A Markdown table; a cell may hold anything that fits on a line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

/** A name as code. */
export const code = (text: string | number): string => `\`${text}\``

/** Names as code, in a list. */
export const codes = (names: readonly (string | number)[]): string => names.map(code).join(', ')

/** One page: its title, a line that says where it comes from, and its parts. */
export function page(title: string, source: string, parts: readonly string[]): string {
  const origin = `<!-- Made from ${source} by npm run docs. Change it there. -->`
  return `${[`# ${title}`, origin, ...parts].join('\n\n')}\n`
}
