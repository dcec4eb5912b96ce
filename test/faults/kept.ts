import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A process that is started again, under a new name, whenever it has been killed. */
export interface Kept {
  /** The names it has had, the present one last. */
  names: string[]
  /** Those under which it ended though nobody had killed it. */
  fell: string[]
  /** Kills it without warning, and starts it again. */
  kill(): Promise<void>
  /** Ends it for good. */
  end(): Promise<void>
}

/** Keeps a TypeScript program running; `args` are made for each name it gets. */
export function keep(
  name: string,
  { program, args = () => [], env }: { program: string; args?: (name: string) => string[]; env: NodeJS.ProcessEnv },
): Kept {
  const names: string[] = []
  const fell: string[] = []
  const start = (): ChildProcess => {
    const own = `${name}-${names.length + 1}`
    names.push(own)
    const started = spawn(process.execPath, ['--import', 'tsx', program, ...args(own)], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    started.once('exit', () => {
      if (!started.killed) fell.push(own)
    })
    return started
  }
  let child = start()
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
  return {
    names,
    fell,
    kill: async () => {
      await end()
      child = start()
    },
    end,
  }
}
