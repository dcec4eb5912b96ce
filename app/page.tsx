import { Home } from '#components/home/home'
import { Refresh } from '#components/home/refresh'
import { processCore } from '#lib/api/core'
import { readHealth } from '#lib/api/health'
import { gate } from './gate'

const REFRESH_SECONDS = 10

export default async function HomePage() {
  await gate()
  const core = await processCore(process.env.DATABASE_URL ?? '')
  const { facts, settings } = await readHealth(core)
  return (
    <>
      <Refresh everySeconds={REFRESH_SECONDS} />
      <Home facts={facts} checkedAt={new Date().toISOString()} settings={settings} />
    </>
  )
}
