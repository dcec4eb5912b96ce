import type { Settings } from '#lib/queue/settings'
import type { Log } from './drain'
import { createNotices } from './notices'
import type { Ticked } from './tick'

/** What the reaper tells people, through the log. A healthy tick that moved nothing says nothing. */
export interface Reports {
  ticked(ticked: Ticked): void
  settings(settings: Settings): void
  /** The look for the next clock failed, or worked when there is no error. */
  looked(error?: unknown): void
}

/** Makes reports that say what lasts once, when it begins and when it is over. */
export function createReports(log: Log): Reports {
  const notice = createNotices()

  function revision({ refused }: Ticked): void {
    // Nothing is known of the revision while it changes.
    if (refused === 'migrating') return
    const { build, database } = typeof refused === 'object' && refused ? refused : {}
    notice({
      topic: 'revision',
      matter: build ? `${build} ${database}` : null,
      begins: () =>
        log.warn({ build, database }, `refusing to sweep: this build knows ${build}, the database is at ${database}`),
      ends: () => log.info('sweeping again: the database is at the revision that this build knows'),
    })
  }

  function failures({ failures }: Ticked): void {
    const sweeps = [...failures.keys()]
    const [err] = failures.values()
    notice({
      topic: 'sweeps',
      matter: sweeps.length > 0 ? `${sweeps} ${err}` : null,
      begins: () => log.error({ err, sweeps }, 'sweeps failed; trying again every second'),
      ends: () => log.info('all sweeps work again'),
    })
  }

  return {
    ticked: (ticked) => {
      if (ticked.expiries > 0) log.info({ count: ticked.expiries }, 'reaped expired leases')
      if (ticked.exhausted > 0) log.info({ count: ticked.exhausted }, 'failed todos that have no attempt left')
      if (ticked.revoked > 0) log.info({ count: ticked.revoked }, 'took todos from endpoints that are out of force')
      revision(ticked)
      failures(ticked)
    },
    settings: (settings) => {
      for (const [setting, { problem }] of Object.entries(settings)) {
        const begins = () => log.warn({ setting }, `setting ${setting}: ${problem}`)
        notice({ topic: `setting ${setting}`, matter: problem ?? null, begins })
      }
    },
    looked: (error) =>
      notice({
        topic: 'look',
        matter: error === undefined ? null : String(error),
        begins: () => log.error({ err: error }, 'the next deadline is unknown; looking again every second'),
      }),
  }
}
