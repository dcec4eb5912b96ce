import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '#scripts/instance.mjs'
import { isFree } from '#scripts/ports.mjs'

/** The built app as `npm start` runs it, with data of its own. */
export interface App {
  url: string
  /** The folder of its data and logs, as SWITCHBOARD_HOME. */
  home: string
  /** Ends all of it and deletes its data. */
  stop(): Promise<void>
}

/** Starts the app, its own PostgreSQL included, on free ports; returns once pages and worker are ready. */
export async function startApp(): Promise<App> {
  const home = mkdtempSync(join(tmpdir(), 'switchboard-app-'))
  // As root the database runs as another user; closed to that one, its files would go elsewhere and stay there.
  chmodSync(home, 0o755)
  const port = await freePorts()
  const { DATABASE_URL: _, ...inherited } = process.env
  const child = spawn(process.execPath, ['scripts/start.mjs', '--port', String(port)], {
    cwd: ROOT,
    env: { ...inherited, SWITCHBOARD_HOME: home, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(home, { recursive: true, force: true })
  }
  try {
    return { url: await readyAt(child), home, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function readyAt(child: ChildProcess): Promise<string> {
  let said = ''
  return new Promise((resolve, reject) => {
    const hear = (part: Buffer) => {
      said += part
      const url = /^\s*Ready\s+(http\S+)/m.exec(said)?.[1]
      if (url) resolve(url)
    }
    child.stdout?.on('data', hear)
    child.stderr?.on('data', hear)
    child.once('close', () => reject(new Error(`The app did not start:\n${said}`)))
  })
}

// The worker takes the port after the web process's.
async function freePorts(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if ((await isFree(port)) && (await isFree(port + 1))) return port
  }
}
