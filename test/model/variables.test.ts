import { describe, expect, test } from 'vitest'
import { BadEnvironment, refuseWrongVariables } from '#lib/model/environment'
import { VARIABLES, wrongVariables } from '../../lib/model/variables.mjs'

const RIGHT: [string, string[]][] = [
  ['HOST', ['127.0.0.1', '::1', 'fe80::1%eth0', 'board.example', '0.0.0.0']],
  ['PORT', ['0', '1', '4300', '65535']],
  ['WORKER_URL', ['http://127.0.0.1:4301', 'https://worker.example/', 'http://[::1]:4301', 'http://proxy/worker']],
  ['PUBLIC_URL', ['https://board.example', 'https://board.example/', 'http://127.0.0.1:8080']],
  ['TRUST_PROXY', ['0', '9']],
  ['METRICS_TOKEN', ['x'.repeat(16)]],
  ['SECRET', ['x'.repeat(32)]],
  ['LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']],
]

test.each(RIGHT)('SWITCHBOARD_%s may be %j', (name, texts) => {
  for (const text of ['', ...texts]) expect(wrongVariables({ [`SWITCHBOARD_${name}`]: text }, 'server')).toEqual([])
})

const WRONG: [string, string[]][] = [
  ['HOST', ['a b', 'http://x', 'a/b', '"']],
  ['PORT', ['-1', '65536', '80x', '4e3', '٣', ' 80', 'tcp://10.0.0.1:4300', '1.5']],
  ['WORKER_URL', ['nonsense', '127.0.0.1:4301', 'ftp://worker', 'http://', 'http://a:b@worker', 'http://worker?x']],
  ['PUBLIC_URL', ['board.example', 'https://board.example/app', 'https://a:b@board.example', 'https://x.example/#y']],
  ['TRUST_PROXY', ['10', 'yes', '-1', '1.5']],
  ['LOG_LEVEL', ['Info', 'warning', 'verbose', ' info', 'constructor']],
]

test.each(WRONG)('SWITCHBOARD_%s may not be %j', (name, texts) => {
  const full = `SWITCHBOARD_${name}` as keyof typeof VARIABLES
  for (const text of texts) {
    const [line, ...others] = wrongVariables({ [full]: text }, 'server')
    expect(others).toEqual([])
    expect(line?.startsWith(`${full} ${VARIABLES[full].expected}, not "`)).toBe(true)
  }
})

describe('a refusal', () => {
  test('names every variable that is wrong, what it is, and what it must be', () => {
    const env = { SWITCHBOARD_LOG_LEVEL: 'verbose', SWITCHBOARD_PORT: '80x' }
    const said = [
      'SWITCHBOARD_PORT must be a whole number from 0 to 65535, not "80x"',
      'SWITCHBOARD_LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "verbose"',
    ]
    expect(wrongVariables(env, 'server')).toEqual(said)
    expect(() => refuseWrongVariables(env, 'server')).toThrow(new BadEnvironment(said.join('\n')))
  })

  test('tells nobody a secret, nor the password in an address', () => {
    const env = {
      DATABASE_URL: 'mysql://me:hush@host/db',
      SWITCHBOARD_SECRET: 'hush',
      SWITCHBOARD_METRICS_TOKEN: 'hush',
      SWITCHBOARD_PUBLIC_URL: 'https://me:hush@board.example',
      SWITCHBOARD_WORKER_URL: 'http://hush@worker',
    }
    const said = wrongVariables(env, 'server')
    expect(said).toHaveLength(5)
    expect(said.join('\n')).not.toContain('hush')
    expect(wrongVariables({ SWITCHBOARD_TOKEN: 'hush hush' }, 'programs').join()).toMatch(/^SWITCHBOARD_TOKEN must be /)
  })

  test('is only of what its reader reads', () => {
    const ofServer = { SWITCHBOARD_PORT: 'x', SWITCHBOARD_LOG_LEVEL: 'x' }
    const wrong = { ...ofServer, SWITCHBOARD_URL: 'nowhere', SWITCHBOARD_PROVE: 'yes' }
    const names = (reader: 'server' | 'programs' | 'tests') =>
      wrongVariables(wrong, reader).map((line) => line.split(' ')[0])
    expect(names('server')).toEqual(['SWITCHBOARD_PORT', 'SWITCHBOARD_LOG_LEVEL'])
    expect(names('programs')).toEqual(['SWITCHBOARD_LOG_LEVEL', 'SWITCHBOARD_URL'])
    expect(names('tests')).toEqual(['SWITCHBOARD_PROVE'])
  })
})

describe('a name that is none of ours', () => {
  test.each([
    ['PROT', 'PORT'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['PUBLIC_URI', 'PUBLIC_URL'],
    ['TRUST_PROXIES', null],
    ['TRUST_PROXYS', 'TRUST_PROXY'],
    ['HOSTS', 'HOST'],
    ['log_level', 'LOG_LEVEL'],
  ])('SWITCHBOARD_%s: %s is meant', (name, meant) => {
    const said = meant ? [`SWITCHBOARD_${name} is not known: SWITCHBOARD_${meant} is probably meant`] : []
    expect(wrongVariables({ [`SWITCHBOARD_${name}`]: 'x' }, 'server')).toEqual(said)
    expect(wrongVariables({ [`SWITCHBOARD_${name}`]: '' }, 'server')).toEqual([])
  })

  test('is let be when another program has set it: container platforms name services so', () => {
    const names = ['SERVICE_HOST', 'SERVICE_PORT', 'PORT_4300_TCP', 'PORT_4300_TCP_ADDR', 'NAME', 'X']
    const env = Object.fromEntries(names.map((name) => [`SWITCHBOARD_${name}`, 'tcp://10.0.0.1:4300']))
    expect(wrongVariables(env, 'server')).toEqual([])
  })
})
