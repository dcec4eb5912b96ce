import { defineConfig } from 'prisma/config'

/** Where Prisma's own CLI finds the schema, the migrations and, when it needs one, the database. */
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(process.env.DATABASE_URL ? { datasource: { url: process.env.DATABASE_URL } } : {}),
})
