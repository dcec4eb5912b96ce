import { NumberInput, TextInput } from '@mantine/core'
import type { Budget, Card } from '#lib/wire/todo'
import { overLimits } from './limits-of'

/** What replaces a deadline that is over and a budget that is used up; empty where nothing needs to be. */
export interface NewLimits {
  deadline_at?: string
  budget?: Budget
}

const isOver = ({ deadline_at }: Card): boolean => deadline_at !== null && Date.parse(deadline_at) <= Date.now()

/** Whether everything that would end this todo again at once has been replaced. */
export const suffices = (card: Card, { deadline_at, budget }: NewLimits): boolean =>
  (!isOver(card) || (deadline_at !== undefined && Date.parse(deadline_at) > Date.now())) &&
  overLimits(card).every(({ key, used }) => (budget?.[key] ?? 0) >= used)

interface NewLimitsProps {
  card: Card
  given: NewLimits
  onChange(given: NewLimits): void
}

/** Asks for what a todo needs to go on: another deadline, more of what it used up. */
export function NewLimitsFields({ card, given, onChange }: NewLimitsProps) {
  return (
    <>
      {isOver(card) && (
        <TextInput
          type="datetime-local"
          label="New deadline"
          description="Its deadline is over. In your own time."
          required
          mb="sm"
          onChange={({ currentTarget: { value } }) => {
            const { deadline_at: _, ...others } = given
            onChange(value ? { ...others, deadline_at: new Date(value).toISOString() } : others)
          }}
        />
      )}
      {overLimits(card).map(({ key, name, used, of, text }) => (
        <NumberInput
          key={key}
          label={`New limit: ${name.toLowerCase()}${key === 'max_seconds' ? ', in seconds' : ''}`}
          description={`It used ${text(used)} of ${text(of ?? 0)}.`}
          min={used}
          allowDecimal={key === 'max_cost_usd'}
          required
          mb="sm"
          onChange={(value) =>
            onChange({ ...given, budget: { ...card.budget, ...given.budget, [key]: Number(value) } })
          }
        />
      ))}
    </>
  )
}
