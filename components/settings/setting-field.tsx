'use client'

import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId } from 'react'
import { Refusal } from '#lib/model/errors'
import { SETTINGS, type Setting } from '#lib/model/settings'
import { putSetting } from '#lib/query/settings'
import type { SettingView } from '#lib/wire/setting'
import { toast } from '../shell/toast'
import { inWords, storable, UNITS, type Unit } from './amount'
import { ChangedMeanwhile } from './changed-meanwhile'
import { DeadlinePreview } from './deadline-preview'
import { DeletionPreview } from './deletion-preview'
import { InForce } from './in-force'
import styles from './setting-field.module.css'
import { useEdit } from './use-edit'

/** One setting: what it is, what is in force and since when, and the field that changes it. */
export function SettingField({ setting }: { setting: SettingView }) {
  const { key, label, description, unit, off } = setting
  const edit = useEdit(setting)
  const put = useMutation(putSetting)
  const id = useId()
  const text = storable(edit.amount)
  const isNumber = text !== null

  function save(event: FormEvent): void {
    event.preventDefault()
    if (!edit.isDirty || edit.isBehind || !isNumber || put.isPending) return
    const value = edit.isReset ? null : text
    put.mutate({ key, value, version: edit.version }, { onSuccess: (answer) => saved(answer.setting) })
  }

  function saved(stored: SettingView): void {
    edit.drop()
    void toast({ title: `${label} changed`, message: `In force: ${inWords(stored.effective, stored)}`, tone: 'good' })
  }

  return (
    <form className={styles.field} onSubmit={save} noValidate>
      <div className={styles.what}>
        <h3>{label}</h3>
        <p id={`${id}-help`}>{description}</p>
        <code className={styles.key}>{key}</code>
      </div>
      <div className={styles.how}>
        <div className={styles.input}>
          <TextInput
            aria-label={label}
            aria-describedby={`${id}-help ${id}-range`}
            inputMode="numeric"
            autoComplete="off"
            className={styles.number}
            value={edit.amount.text}
            error={!isNumber}
            onChange={({ currentTarget }) => edit.type({ text: currentTarget.value })}
          />
          {edit.amount.unit ? (
            <NativeSelect
              aria-label={`Unit of ${label}`}
              data={UNITS}
              value={edit.amount.unit}
              onChange={({ currentTarget }) => edit.type({ unit: currentTarget.value as Unit })}
            />
          ) : (
            <span className={styles.unit}>{unit}</span>
          )}
        </div>
        <p id={`${id}-range`} className={styles.range} data-wrong={!isNumber || undefined}>
          {!isNumber && `${wholeOf(unit)} `}
          {rangeOf(setting)}
          {off && ', or 0 for off'}
        </p>
        {rowOf(key)?.ends && text !== null && <DeadlinePreview setting={key} text={text} isDirty={edit.isDirty} />}
        {!rowOf(key)?.ends && text !== null && edit.isDirty && <Limits value={Number(text)} setting={setting} />}
        {rowOf(key)?.deletes && text !== null && edit.isDirty && <DeletionPreview setting={key} text={text} />}
        {edit.isBehind && <ChangedMeanwhile setting={setting} onTheirs={edit.drop} onMine={edit.keep} />}
        {put.error && !isConflict(put.error) && (
          <p className={styles.error} role="alert">
            {put.error.message}
          </p>
        )}
        {edit.isDirty && (
          <div className={styles.actions}>
            <Button type="submit" size="xs" loading={put.isPending} disabled={!isNumber || edit.isBehind}>
              {edit.isReset ? 'Save the default' : 'Save'}
            </Button>
            <Button size="xs" variant="subtle" color="gray" onClick={edit.drop} disabled={put.isPending}>
              Discard
            </Button>
          </div>
        )}
        <InForce setting={setting} />
        {setting.value !== null && !edit.isReset && (
          <Button className={styles.reset} size="compact-xs" variant="subtle" onClick={edit.reset}>
            Reset to default ({inWords(setting.default, setting)})
          </Button>
        )}
      </div>
    </form>
  )
}

const rowOf = (key: string): Setting | undefined => (SETTINGS as Record<string, Setting>)[key]

const isConflict = (error: Error): boolean => error instanceof Refusal && error.code === 'version_conflict'

function rangeOf({ unit, minimum, maximum }: SettingView): string {
  const most = inWords(maximum, { unit, off: false })
  return `${unit === 'seconds' ? inWords(minimum, { unit, off: false }) : minimum.toLocaleString('en')} to ${most}`
}

const wholeOf = (unit: string): string => `A whole number of ${unit} is needed:`

function Limits({ value, setting }: { value: number; setting: SettingView }) {
  const { minimum, maximum, off } = setting
  if (off && value <= 0) return null
  if (value >= minimum && value <= maximum) return null
  const nearest = Math.min(Math.max(value, minimum), maximum)
  return (
    <p className={styles.note} role="status">
      Outside the range: {inWords(nearest, setting)} will be in force.
    </p>
  )
}
