import type { Db } from '#lib/db/connect'
import { batchOf } from './batch'
import type { Channel } from './channel'
import { type Mark, markAt, positionAt } from './cursor'
import { cardsOf, FORGOTTEN, readLog } from './read-log'

/** A client further behind than this many events fetches anew instead. */
const MOST_REPLAYED = 10_000

// By hand events are deleted from the beginning on.
const STANDING = `SELECT (SELECT at FROM todo_events WHERE id = $1) AS at,
    coalesce((SELECT max(id) FROM todo_events), 0) AS newest, 
    greatest(${FORGOTTEN}, (SELECT min(id) - 1 FROM todo_events)) AS forgotten,
    (SELECT count(*) FROM (SELECT FROM todo_events WHERE id > $1 LIMIT ${MOST_REPLAYED + 1}) beyond) AS missed`

/** Whether the log still tells everything from a mark on: nothing of that was deleted, it is this log's, and it is not too much. */
export async function canReplay(db: Db, { last, at, holes }: Mark): Promise<boolean> {
  const [row] = await db.query<{ at: string | null; newest: number; forgotten: number; missed: number }>({
    name: 'replay_standing',
    text: STANDING,
    values: [last],
  })
  if (!row || Math.max(row.newest, row.forgotten) < last || row.missed > MOST_REPLAYED) return false
  // A database restored to an earlier time has another event under this id, or none.
  const isThere = last === 0 || last === row.forgotten || (row.at !== null && (at === null || row.at === at))
  return isThere && row.forgotten <= last && holes.every(({ first }) => first > row.forgotten)
}

interface Replay {
  channel: Channel
  mark: Mark
  /** Runs one page's reads, when it is its turn. */
  inTurn<Result>(read: () => Promise<Result>): Promise<Result>
}

/**
 * Tells a channel what it missed, page by page as fast as its connection takes them, and lets it go on with what is told
 * from then on: every event once. False when it takes so long that the client does better to fetch anew, or when some of it
 * is deleted meanwhile.
 */
export async function replay(db: Db, { channel, mark: from, inTurn }: Replay): Promise<boolean> {
  let mark = from
  let position = positionAt(from)
  for (let told = 0; told <= 2 * MOST_REPLAYED && !channel.isOver; ) {
    // Whatever is followed from before the page is read is in the page, or among what is held.
    channel.hold()
    const { events, cards, ...found } = await inTurn(() => readPage(db, position))
    if (found.forgotten > position.last) return false
    channel.send(batchOf({ events, cards }, mark))
    position = found.position
    mark = markAt(position, events.findLast(({ id }) => id === position.last)?.at ?? mark.at)
    told += events.length
    if (found.isWhole && channel.release(mark)) return true
    await channel.drained()
  }
  return false
}

async function readPage(db: Db, position: ReturnType<typeof positionAt>) {
  const found = await readLog(db, position)
  return {
    ...found,
    cards: await cardsOf(
      db,
      found.events.flatMap(({ todo_id }) => todo_id ?? []),
    ),
  }
}
