import type { ErrorCode } from '#lib/model/errors'
import { Refusal } from '#lib/model/errors'

/** The code by which a call was refused, or null when it was carried out; anything else thrown is thrown on. */
export async function codeOf(call: Promise<unknown>): Promise<ErrorCode | null> {
  return (await refusalOf(call))?.code ?? null
}

/** The refusal of a call, or null when it was carried out; anything else thrown is thrown on. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal | null> {
  try {
    await call
    return null
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
