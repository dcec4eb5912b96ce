import { useState } from 'react'
import type { SettingView } from '#lib/wire/setting'
import { type Amount, amountOf, storable } from './amount'

interface Edited {
  amount: Amount
  isReset: boolean
  /** The version of the setting that the edit began from. */
  version: number
}

/** A setting being changed. */
export interface Edit extends Edited {
  /** Whether saving would store anything else than what is stored. */
  isDirty: boolean
  /** Whether somebody else has changed the setting since the edit began. */
  isBehind: boolean
  type(part: Partial<Amount>): void
  reset(): void
  /** Lets the edit go: the field shows what is stored. */
  drop(): void
  /** Goes on with the edit on top of what somebody else stored. */
  keep(): void
}

/** What is typed into a setting's field; until something is, the field follows what is stored. */
export function useEdit(setting: SettingView): Edit {
  const { version } = setting
  const [edited, setEdited] = useState<Edited | null>(null)
  const stored: Edited = { amount: amountOf(storedValue(setting), setting), isReset: false, version }
  const current = edited ?? stored
  const isSame = !current.isReset && storable(current.amount) === String(storedValue(setting))
  return {
    ...current,
    isDirty: edited !== null && !isSame,
    isBehind: edited !== null && !isSame && edited.version !== version,
    type: (part) => setEdited({ ...current, amount: { ...current.amount, ...part }, isReset: false }),
    reset: () => setEdited({ ...current, amount: amountOf(setting.default, setting), isReset: true }),
    drop: () => setEdited(null),
    keep: () => setEdited({ ...current, version }),
  }
}

// A text that can't be read is shown as what is in force instead of it.
function storedValue({ value, effective }: SettingView): number {
  const number = Number(value)
  return value !== null && /^-?\d+$/.test(value) && Number.isSafeInteger(number) ? number : effective
}
