import { Checkbox, MultiSelect, NumberInput, Radio, Select, Stack, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { shown, Untrusted } from '../shell/untrusted'
import type { Choice, Field, FieldValue } from './fields'
import styles from './prompt-form.module.css'

const MOST_RADIOS = 5
const MOST_BOXES = 8
const SEARCHABLE = 10

interface PromptFieldProps {
  field: Field
  value: FieldValue | undefined
  error: string | undefined
  disabled: boolean
  /** Undefined: nothing any more. */
  onChange(value: FieldValue): void
}

/** One field of a question's form, as its schema wants it. */
export function PromptField({ field, value, error, disabled, onChange }: PromptFieldProps) {
  const { widget, help, label, isRequired } = field
  const wrapped = {
    label: <Untrusted text={label} />,
    description: help ? <Untrusted text={help} /> : null,
    error,
    withAsterisk: isRequired,
  }
  const text = typeof value === 'string' ? value : ''
  const typed = ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value)

  switch (widget.kind) {
    case 'text':
      return (
        <TextInput
          {...wrapped}
          type={widget.type}
          value={text}
          onChange={typed}
          disabled={disabled}
          autoComplete="off"
        />
      )
    case 'long-text':
      return (
        <Textarea {...wrapped} autosize minRows={3} maxRows={18} value={text} onChange={typed} disabled={disabled} />
      )
    case 'number':
      return (
        <NumberInput
          {...wrapped}
          value={typeof value === 'number' || typeof value === 'string' ? value : ''}
          onChange={onChange}
          allowDecimal={!widget.isWhole}
          clampBehavior="none"
          disabled={disabled}
          classNames={{ wrapper: styles.number }}
        />
      )
    case 'yes-no':
      return <YesNo wrapped={wrapped} value={value} disabled={disabled} onChange={onChange} />
    case 'tick':
      return (
        <Checkbox
          label={wrapped.label}
          description={wrapped.description}
          error={error}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
          disabled={disabled}
        />
      )
    case 'one-of':
      return <OneOf wrapped={wrapped} choices={widget.choices} {...{ value, disabled, onChange }} />
    case 'some-of':
      return <SomeOf wrapped={wrapped} choices={widget.choices} {...{ value, disabled, onChange }} />
  }
}

interface ChoiceProps extends Pick<PromptFieldProps, 'value' | 'disabled' | 'onChange'> {
  wrapped: { label: ReactNode; description: ReactNode; error: string | undefined; withAsterisk: boolean }
}

function YesNo({ wrapped, value, disabled, onChange }: ChoiceProps) {
  return (
    <Radio.Group
      {...wrapped}
      value={typeof value === 'boolean' ? String(value) : null}
      onChange={(chosen) => onChange(chosen === 'true')}
    >
      <Stack gap="xs" mt="xs">
        <Radio value="true" label="Yes" disabled={disabled} />
        <Radio value="false" label="No" disabled={disabled} />
      </Stack>
    </Radio.Group>
  )
}

// By their place: a choice may be the empty text, which the inputs take for none.
const placesOf = (choices: readonly Choice[]) =>
  choices.map(({ label }, index) => ({ value: String(index), label: shown(label) || '(empty)' }))

const placeOf = (choices: readonly Choice[], chosen: unknown): string | null => {
  const index = choices.findIndex(({ value }) => value === chosen)
  return index < 0 ? null : String(index)
}

function OneOf({ wrapped, choices, value, disabled, onChange }: ChoiceProps & { choices: Choice[] }) {
  const place = placeOf(choices, value)
  const choose = (chosen: string | null) => onChange(choices[Number(chosen ?? -1)]?.value ?? '')
  if (choices.length > MOST_RADIOS) {
    return (
      <Select
        {...wrapped}
        data={placesOf(choices)}
        value={place}
        onChange={choose}
        searchable={choices.length > SEARCHABLE}
        placeholder="Choose one"
        disabled={disabled}
        maw="24rem"
      />
    )
  }
  return (
    <Radio.Group {...wrapped} value={place} onChange={choose}>
      <Stack gap="xs" mt="xs">
        {placesOf(choices).map((choice) => (
          <Radio key={choice.value} {...choice} disabled={disabled} />
        ))}
      </Stack>
    </Radio.Group>
  )
}

function SomeOf({ wrapped, choices, value, disabled, onChange }: ChoiceProps & { choices: Choice[] }) {
  const chosen = Array.isArray(value) ? value : []
  const places = chosen.map((one) => placeOf(choices, one)).filter((place) => place !== null)
  const choose = (next: string[]) =>
    onChange(choices.filter((_choice, index) => next.includes(String(index))).map((choice) => choice.value))
  if (choices.length > MOST_BOXES) {
    return (
      <MultiSelect
        {...wrapped}
        data={placesOf(choices)}
        value={places}
        onChange={choose}
        searchable
        disabled={disabled}
        placeholder={places.length === 0 ? 'Choose some' : ''}
      />
    )
  }
  return (
    <Checkbox.Group {...wrapped} value={places} onChange={choose}>
      <Stack gap="xs" mt="xs">
        {placesOf(choices).map((choice) => (
          <Checkbox key={choice.value} {...choice} disabled={disabled} />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
