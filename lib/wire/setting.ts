import { z } from 'zod'
import { SETTINGS, type SettingKey } from '#lib/model/settings'
import { time } from './scalars'

/** The name of a setting. */
const settingKey = z.enum(Object.keys(SETTINGS) as [SettingKey, ...SettingKey[]])

/** A setting as stored and as in force. */
export const settingSchema = z.object({
  key: settingKey,
  value: z.string().nullable().describe('The stored text; null when the default is in force'),
  effective: z.number(),
  default: z.number(),
  unit: z.string(),
  minimum: z.number(),
  maximum: z.number(),
  off: z.boolean().describe('Whether 0 or less turns it off'),
  label: z.string(),
  description: z.string(),
  problem: z.string().optional().describe('Why the stored text is not what is in force'),
  updated_at: time.nullable(),
  updated_by: z.string().nullable().describe('Who changed it, as the log names them; null for a row made by hand'),
  version: z.int().describe('What a change must send; 0 without a row'),
})
export type SettingView = z.infer<typeof settingSchema>

const integerText = z
  .string()
  .regex(/^-?[0-9]{1,40}$/, 'must be a whole number: digits, with a minus sign in front if need be')

export const settingParams = z.strictObject({ key: settingKey })

export const settingChangeSchema = z.strictObject({
  value: integerText.nullable().describe('The text to store; null takes the row away, so that the default is in force'),
  version: z.int().min(0).max(2_147_483_647).describe('The version this replaces'),
})

export const previewQuery = z.strictObject({ value: integerText })

export const settingsAnswer = z.object({ settings: z.array(settingSchema) })

export const settingAnswer = z.object({ setting: settingSchema })

/** How many of what a change deletes are counted. */
export const MOST_COUNTED = 10_000

/** What a setting's change would do to rows at once. */
export const previewAnswer = z.object({
  effective: z.number().describe('What would be in force'),
  problem: z.string().optional().describe('Why that is not the number given'),
  reclaims: z.int().describe('Held questions the next sweep would take back'),
  dead_letters: z.int().describe('Of those, how many for good'),
  oldest_seconds: z.number().nullable().describe('How long the oldest of them has waited'),
  longest_lease_seconds: z
    .int()
    .nullable()
    .describe('The longest lease now granted; a shorter deadline could take a wait from a live holder'),
  deletes: z
    .int()
    .describe(
      `Of a retention setting: ended todos it would delete, or todos whose oldest attempts it would; ${MOST_COUNTED} are counted at most`,
    ),
})
export type Preview = z.infer<typeof previewAnswer>
