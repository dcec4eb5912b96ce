import { startApp } from './app'

/**
 * Starts the app for the end-to-end tests. They find it by SWITCHBOARD_URL, and by SWITCHBOARD_HOME where they run one
 * of our scripts.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const app = await startApp()
  process.env.SWITCHBOARD_URL = app.url
  process.env.SWITCHBOARD_HOME = app.home
  return app.stop
}
