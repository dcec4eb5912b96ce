import { format } from 'node:util'
import { afterAll, afterEach } from 'vitest'

const said: string[] = []
const { error: write } = console

console.error = (...parts: unknown[]) => {
  said.push(format(...parts))
  write(...parts)
}

function refuseErrors(): void {
  const lines = said.splice(0)
  if (lines.length > 0) throw new Error(`console.error was called:\n${lines.join('\n')}`)
}

afterEach(refuseErrors)
afterAll(refuseErrors)
