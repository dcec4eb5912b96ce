import { Home } from '#components/home/home'
import { Refresh } from '#components/home/refresh'
import { processCore } from '#lib/api/core'
import { readHealth } from '#lib/api/health'
import { requirePerson } from '#lib/api/require-person'

export const metadata = { title: 'Health' }

const REFRESH_SECONDS = 10

export default async function HealthPage() {
  await requirePerson('/health')
  const core = await processCore(process.env.DATABASE_URL ?? '')
  const { facts, settings } = await readHealth(core)
  return (
    <>
      <Refresh everySeconds={REFRESH_SECONDS} />
      <Home facts={facts} checkedAt={new Date().toISOString()} settings={settings} />
    </>
  )
}
