import { useSyncExternalStore } from 'react'
import type { State } from '#lib/model/states'
import { stored } from '../shell/stored'

/** What somebody chose for a column; without a choice it goes by what is in it. */
type Choice = 'open' | 'collapsed'

const NONE: Partial<Record<State, Choice>> = {}
const choices = stored('board.columns', NONE)
const none = () => NONE

const choose = (state: State, choice: Choice): void => choices.set({ ...choices.get(), [state]: choice })

/** What this browser's person chose for each column, and how to choose. */
export function useColumnChoices(): [Partial<Record<State, Choice>>, typeof choose] {
  const chosen = useSyncExternalStore(choices.subscribe, choices.get, none)
  return [chosen, choose]
}
