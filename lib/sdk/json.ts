import type { z } from 'zod'
import type { json } from '#lib/wire/scalars'

/** Anything that JSON can say. */
export type Json = z.input<typeof json>
