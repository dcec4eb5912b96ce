import { describe, expect, test } from 'vitest'
import { readEnvironment } from '#lib/api/environment'
import { BadEnvironment } from '#lib/model/environment'

const DATABASE_URL = 'postgresql://switchboard@127.0.0.1:5432/switchboard'

const read = (env: Record<string, string>) => readEnvironment({ DATABASE_URL, ...env } as unknown as NodeJS.ProcessEnv)

describe('the web process’s environment', () => {
  test('needs no more than a database', () => {
    expect(read({ NODE_ENV: 'production' })).toEqual({
      host: '127.0.0.1',
      port: 4300,
      databaseUrl: DATABASE_URL,
      metricsToken: null,
      dev: false,
      site: { publicUrl: null, proxies: 0 },
    })
  })

  test('counts what is empty as not set', () => {
    expect(read({ SWITCHBOARD_PORT: '', SWITCHBOARD_HOST: '', SWITCHBOARD_METRICS_TOKEN: '' })).toMatchObject({
      host: '127.0.0.1',
      port: 4300,
      metricsToken: null,
    })
  })

  test.each([
    [{ DATABASE_URL: '' }, /^DATABASE_URL is missing/],
    [{ DATABASE_URL: 'mysql://x/y' }, /^DATABASE_URL must look like postgresql:/],
    [{ DATABASE_URL: 'localhost' }, /^DATABASE_URL must look like postgresql:/],
    [{ SWITCHBOARD_PORT: '80x' }, /^SWITCHBOARD_PORT must be a whole number/],
    [{ SWITCHBOARD_PORT: '70000' }, /^SWITCHBOARD_PORT/],
    [{ SWITCHBOARD_HOST: 'not a host' }, /^SWITCHBOARD_HOST must be a host name/],
    [{ SWITCHBOARD_METRICS_TOKEN: 'short' }, /^SWITCHBOARD_METRICS_TOKEN must have at least 16 characters/],
    [{ SWITCHBOARD_LOG_LEVEL: 'verbose' }, /^SWITCHBOARD_LOG_LEVEL must be one of trace, .*, silent, not "verbose"$/],
    [{ SWITCHBOARD_WORKER_URL: 'nonsense' }, /^SWITCHBOARD_WORKER_URL must be the address of the worker.*"nonsense"$/],
    [{ SWITCHBOARD_PUBLIC_URL: 'https://me:pw@b.example' }, /^SWITCHBOARD_PUBLIC_URL must look like https:.*, without/],
    [{ SWITCHBOARD_TRUST_PROXY: 'yes' }, /^SWITCHBOARD_TRUST_PROXY must be the number of proxies/],
    [{ SWITCHBOARD_SECRET: 'x'.repeat(31) }, /^SWITCHBOARD_SECRET must have at least 32 characters$/],
  ])('%o is refused with what is wrong', (env, reason) => {
    expect(() => read(env)).toThrow(BadEnvironment)
    expect(() => read(env)).toThrow(reason)
  })
})
