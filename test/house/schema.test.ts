import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { up } from '../../prisma/runner'
import { catalog } from '../support/catalog'
import { emptyDatabase } from '../support/empty-database'
import { schemaSql } from '../support/prisma-schema'

const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8')

const migrated = emptyDatabase()
const declared = emptyDatabase()

test('the migrations reproduce schema.prisma', async () => {
  const one = await migrated.session()
  await up(one)
  const two = await declared.session()
  await two.query(await schemaSql(declared.url, schema))
  expect(await catalog(one, 'prisma')).toEqual(await catalog(two, 'prisma'))
})
