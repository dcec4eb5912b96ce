import { useSyncExternalStore } from 'react'
import type { State } from '#lib/model/states'
import { stored } from '../shell/stored'

/** What somebody chose for a column; without a choice it goes by what is in it. */
type Choice = 'open' | 'collapsed'

const NONE: Partial<Record<State, Choice>> = {}
const choices = stored('board.columns', NONE)
const none = () => NONE

/** Opens or collapses a column, until this browser's person chooses otherwise. */
export const chooseColumn = (state: State, choice: Choice): void => choices.set({ ...choices.get(), [state]: choice })

/** What this browser's person chose for each column. */
export const useColumnChoices = (): Partial<Record<State, Choice>> =>
  useSyncExternalStore(choices.subscribe, choices.get, none)
