/** Nothing answered in time. What was asked may still happen. */
export class NoAnswer extends Error {}

/** The answer, or NoAnswer after so many milliseconds: a half-open connection answers nothing, and reports no error either. */
export async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(`No answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
