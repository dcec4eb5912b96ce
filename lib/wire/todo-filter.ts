import { z } from 'zod'
import { STATE_NAMES } from '#lib/model/states'
import { givenTime, id, name } from './scalars'

const text = z.string().min(1).max(200)

/** By what todos are narrowed, in lists and for bulk runs; all that are given must hold. */
export const todoFilterFields = {
  state: z.array(z.enum(STATE_NAMES)).optional(),
  queue: name.optional(),
  kind: text.optional(),
  owner: text.optional(),
  q: text.optional().describe('Looks in id, title, kind and error'),
  parent_id: id.optional(),
  created_after: givenTime.optional(),
  created_before: givenTime.optional(),
}
