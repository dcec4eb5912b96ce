import type { ReactNode } from 'react'
import { Snippet } from '../shell/snippet'
import styles from './first-steps.module.css'

const CREATE = `npm run endpoint -- create my-agent \\
  --scopes enqueue,work,read,answer`

const ENQUEUE = `curl "$SWITCHBOARD_URL/api/v1/todos" \\
  -H "Authorization: Bearer $SWITCHBOARD_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"queue": "hello", "title": "Greet somebody"}'`

const WORK = `import { worker } from 'switchboard/sdk'

worker({
  queues: ['hello'],
  handler: async ({ ask }) => {
    const { content } = await ask({ title: 'Greet whom?' })
    return { greeting: \`Hello, \${content?.answer ?? 'nobody'}\` }
  },
})`

interface OneStep {
  title: string
  children: ReactNode
  label: string
  where?: string
  text: string
}

function Step({ title, children, where = 'Terminal', ...snippet }: OneStep) {
  return (
    <li className={styles.step}>
      <h3 className={styles.title}>{title}</h3>
      <p className={styles.what}>{children}</p>
      <Snippet where={where} {...snippet} />
    </li>
  )
}

/** The way from here to a first todo, ready to paste. */
export function FirstSteps() {
  return (
    <ol className={styles.steps}>
      <Step title="Give an agent a token" label="Command that makes an endpoint" text={CREATE}>
        An endpoint is an agent’s identity. This prints two lines to paste where the agent runs; the token in them is
        shown only once.
      </Step>
      <Step title="Enqueue a todo" label="curl command that enqueues a todo" text={ENQUEUE}>
        One call. Give it an <code>idempotency_key</code> and repeating it makes nothing twice.
      </Step>
      <Step title="Work on it" label="A worker in TypeScript" where="hello.ts" text={WORK}>
        The worker claims, keeps its lease alive, and may stop to ask a person. The returned value is the result.
      </Step>
      <Step title="Or watch a real run first" label="Command that runs the demo" text="npm run demo">
        Three workers review the licences of the packages installed here. One is killed on the way; its todo comes back.
      </Step>
    </ol>
  )
}
