import { expect, test } from 'vitest'
import { parseFlags, refuseWrongVariables } from '#scripts/flags.mjs'

test('without flags it listens on 4300, on this machine alone', () => {
  expect(parseFlags([], {})).toEqual({ host: '127.0.0.1', port: 4300, isHelp: false })
})

test('flags win over the environment', () => {
  const env = { SWITCHBOARD_PORT: '5000', SWITCHBOARD_HOST: '0.0.0.0' }
  expect(parseFlags([], env)).toMatchObject({ port: 5000, host: '0.0.0.0' })
  expect(parseFlags(['--port', '6000', '--host=::1'], env)).toMatchObject({ port: 6000, host: '::1' })
})

test.each([
  [['--prot', '5000'], /Unknown option '--prot'/],
  [['5000'], /Unexpected argument: 5000/],
  [['--port'], /--port/],
  [['--port', ''], /--port must be a whole number/],
  [['--port', '0'], /from 1 to 65534/],
  [['--port', '65535'], /from 1 to 65534/],
  [['--port', '43oo'], /not "43oo"/],
  [['--host', 'a b'], /--host must be a host name/],
])('%j is refused with what is wrong', (argv, message) => {
  expect(() => parseFlags(argv, {})).toThrow(message)
})

test('a value from the environment is refused under its own name', () => {
  expect(() => parseFlags([], { SWITCHBOARD_PORT: 'x' })).toThrow(/SWITCHBOARD_PORT must be/)
})

test('what web process or worker would refuse is refused before, but flags count more than what they stand for', () => {
  const flags = { host: '127.0.0.1', port: 4300 }
  expect(() => refuseWrongVariables(flags, { SWITCHBOARD_PORT: 'x', SWITCHBOARD_HOST: 'a b' })).not.toThrow()
  expect(() =>
    refuseWrongVariables(flags, { SWITCHBOARD_LOG_LEVEL: 'verbose', SWITCHBOARD_WORKER_URL: 'nonsense' }),
  ).toThrow(
    /^SWITCHBOARD_WORKER_URL must be .*, not "nonsense"\nSWITCHBOARD_LOG_LEVEL must be one of .*, not "verbose"$/,
  )
})

test('a flag that npm kept for itself is pointed out instead of ignored', () => {
  expect(() => parseFlags([], { npm_config_port: '5000' })).toThrow('npm start -- --port 5000')
  expect(() => parseFlags(['5000'], { npm_config_port: 'true' })).toThrow('npm start -- --port 5000')
  expect(parseFlags(['--port', '5000'], { npm_config_port: '1' }).port).toBe(5000)
})
