import type { Interrupt } from '#lib/wire/interrupt'
import { type Field, fieldsOf } from '../inbox/fields'
import { Untrusted } from '../shell/untrusted'
import boxes from './boxes.module.css'
import styles from './questions.module.css'
import { masked } from './tree'

/** What was answered, field by field and in the words of the form, then the comment; nothing when neither was given. */
export function AnswerContent({ interrupt }: { interrupt: Interrupt }) {
  const { content, comment } = interrupt
  const fields = new Map(fieldsOf(interrupt).map((field) => [field.name, field]))
  // The database keeps no order; the form has one.
  const order = [...fields.keys()]
  return (
    <>
      {content !== null && typeof content === 'object' && (
        <dl className={styles.content}>
          {Object.entries(masked(content) as object)
            .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
            .map(([name, value]) => (
              <div key={name}>
                <dt>
                  <Untrusted text={fields.get(name)?.label ?? name} />
                </dt>
                <dd>
                  <Untrusted text={textOf(value, fields.get(name))} />
                </dd>
              </div>
            ))}
        </dl>
      )}
      {comment && (
        <p className={boxes.comment}>
          <Untrusted text={comment} />
        </p>
      )}
    </>
  )
}

function textOf(value: unknown, field: Field | undefined): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (Array.isArray(value)) return value.map((one) => textOf(one, field)).join(', ') || 'none'
  if (typeof value !== 'string') return JSON.stringify(value)
  const choices = field && 'choices' in field.widget ? field.widget.choices : []
  return choices.find((choice) => choice.value === value)?.label ?? value
}
