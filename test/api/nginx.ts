import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../support/free-port'

// Debian has it where only root's PATH leads.
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']

/** The nginx of this machine, or null. */
export const NGINX =
  FOLDERS.map((folder) => join(folder, 'nginx')).find(
    (path) => existsSync(path) && spawnSync(path, ['-v']).status === 0,
  ) ?? null

/** Starts nginx before an address with nothing set but where it listens and where it keeps its files. */
export async function nginxBefore(upstream: string): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-nginx-'))
  const port = await freePort()
  const config = join(folder, 'nginx.conf')
  writeFileSync(config, configFor({ folder, port, upstream }))
  const child = spawn(String(NGINX), ['-p', folder, '-c', config, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'close')
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 200 && child.exitCode === null && !(await isUp(url)); tries += 1) await pause(20)
  return {
    url,
    stop: async () => {
      // QUIT would wait for the streams.
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const isUp = async (url: string): Promise<boolean> => {
  const answer = await fetch(`${url}/healthz`).catch(() => null)
  await answer?.arrayBuffer()
  return answer?.ok === true
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const configFor = ({ folder, port, upstream }: { folder: string; port: number; upstream: string }): string => `
daemon off;
master_process off;
pid ${folder}/pid;
events {}
http {
  access_log off;
  gzip on;
  ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${upstream};
    }
  }
}
`
