import { headers } from 'next/headers'
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
      <Home facts={facts} checkedAt={new Date().toISOString()} settings={settings} url={await ownUrl()} />
    </>
  )
}

/** Where agents reach us: the address made known for links, else the one this page was asked for at. */
async function ownUrl(): Promise<string> {
  return process.env.SWITCHBOARD_PUBLIC_URL || `http://${(await headers()).get('host') ?? 'localhost'}`
}
