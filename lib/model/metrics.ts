/** What a metric is: its type, labels and help; histograms name their buckets in seconds. */
export interface Metric {
  type: 'counter' | 'gauge' | 'histogram'
  labels: readonly string[]
  help: string
  buckets?: readonly number[]
}

const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const HUMAN = [1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400, 604_800]

/** Every metric there is, by its exact name. Labels never hold ids, titles or people. */
export const METRICS = {
  switchboard_todos_created_total: { type: 'counter', labels: ['queue'], help: 'Todos enqueued' },
  switchboard_todos_claimed_total: { type: 'counter', labels: ['queue'], help: 'Claims' },
  switchboard_todos_finished_total: { type: 'counter', labels: ['queue', 'state'], help: 'Todos that ended, by state' },
  switchboard_todo_leases_expired_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'Executions the reaper took back from a worker that held the todo',
  },
  switchboard_interrupt_leases_reclaimed_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'Held questions nobody answered in time',
  },
  switchboard_parked_waits_expired_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'Parked questions nobody answered in time',
  },
  switchboard_todo_attempts_closed_total: {
    type: 'counter',
    labels: ['queue', 'outcome'],
    help: 'Attempts closed, by outcome',
  },
  switchboard_interrupts_opened_total: { type: 'counter', labels: ['queue', 'kind'], help: 'Questions asked' },
  switchboard_interrupts_closed_total: {
    type: 'counter',
    labels: ['queue', 'kind', 'status'],
    help: 'Questions closed, by how',
  },
  switchboard_fenced_writes_total: {
    type: 'counter',
    labels: ['queue'],
    help: 'Late writes refused to workers that had lost their lease',
  },
  switchboard_queue_todos: { type: 'gauge', labels: ['queue', 'state'], help: 'Todos by queue and state' },
  switchboard_queue_oldest_pending_seconds: {
    type: 'gauge',
    labels: ['queue'],
    help: 'How long the oldest due pending todo has been ready',
  },
  switchboard_oldest_interrupt_seconds: {
    type: 'gauge',
    labels: ['queue'],
    help: 'How long the oldest open question has waited',
  },
  switchboard_sse_streams: { type: 'gauge', labels: [], help: 'Event streams open in this process' },
  switchboard_listener_up: {
    type: 'gauge',
    labels: [],
    help: '1 while notifications arrive, 0 while the process polls',
  },
  switchboard_reaper_last_tick_timestamp_seconds: {
    type: 'gauge',
    labels: [],
    help: 'When the last tick ended, by the database clock',
  },
  switchboard_claim_latency_seconds: {
    type: 'histogram',
    labels: [],
    help: 'From ready to claimed',
    buckets: [...FAST, 60, 300, 3600],
  },
  switchboard_interrupt_wait_seconds: {
    type: 'histogram',
    labels: ['kind'],
    help: 'From asked to answered',
    buckets: HUMAN,
  },
  switchboard_reaper_tick_seconds: { type: 'histogram', labels: [], help: 'How long a tick took', buckets: FAST },
  switchboard_event_delivery_seconds: {
    type: 'histogram',
    labels: [],
    help: 'From an event in the database to the streams of this process, while it has any',
    buckets: FAST,
  },
  switchboard_http_request_seconds: {
    type: 'histogram',
    labels: ['route', 'method', 'status'],
    help: 'How long a request took, waits included',
    buckets: [...FAST, 30],
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS
