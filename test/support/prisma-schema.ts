import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import type { DiffParams, SchemaContainer } from '@prisma/schema-engine-wasm'
import pg from 'pg'

const locate = createRequire(import.meta.url)

/** The SQL that Prisma itself would turn an empty database into schema.prisma with; `databaseUrl` is only connected to. */
export async function schemaSql(databaseUrl: string, content: string): Promise<string> {
  const { SchemaEngine } = await loadEngine()
  const schema = { path: 'schema.prisma', content }
  const pool = new pg.Pool({ connectionString: databaseUrl })
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool))
    const engine = await SchemaEngine.new({ datamodels: [[schema.path, schema.content]] }, () => {}, adapter)
    const { stdout } = await engine.diff(fromNothingTo(schema))
    engine.free()
    if (!stdout) throw new Error('Prisma found nothing to create in schema.prisma')
    return stdout
  } finally {
    await pool.end()
  }
}

const fromNothingTo = (schema: SchemaContainer): DiffParams => ({
  from: { tag: 'empty' },
  to: { tag: 'schemaDatamodel', files: [schema] },
  script: true,
  exitCode: null,
  filters: { externalTables: [], externalEnums: [] },
})

// The package's own entry imports its .wasm as a module, which Node 20 cannot; so the two halves are put together here.
async function loadEngine() {
  const bindings = locate.resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const engine = await import(pathToFileURL(bindings).href)
  const binary = readFileSync(bindings.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(binary, { './schema_engine_bg.js': engine })
  engine.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as () => void)()
  return engine as typeof import('@prisma/schema-engine-wasm')
}
