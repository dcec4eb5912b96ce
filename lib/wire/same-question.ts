import type { Interrupt } from './interrupt'

type Told = 'kind' | 'title' | 'message' | 'schema' | 'url' | 'risk' | 'effect_key' | 'for'

/** A question as it is asked or as it is stored: what is not given is as good as null. */
type Asked = { [Field in Told]?: Interrupt[Field] | undefined } & {
  ui?: unknown
  proposal?: { action: string; arguments?: unknown } | null | undefined
}

/**
 * What a question says, whoever asks it and when: two that say the same are the same question. Whether its todo is held
 * meanwhile is no part of that.
 */
export function saidBy({ kind = 'input', risk = 'medium', proposal, ...asked }: Asked): unknown[] {
  const { title, message, schema, ui, url, effect_key, for: whom } = asked
  const said = [kind, title, message, schema, ui, url, proposal?.action, proposal?.arguments, risk, effect_key, whom]
  return said.map((part) => part ?? null)
}
