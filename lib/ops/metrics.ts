import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRICS, type Metric, type MetricName } from '#lib/model/metrics'

type Labels = Record<string, string>
type Instrument = Counter | Gauge | Histogram

const MOST_QUEUES = 200
const KEY = Symbol.for('switchboard.metrics')

interface Metrics {
  registry: Registry
  instruments: Map<string, Instrument>
  queues: Set<string>
}

// Route handlers and the process's own modules are separate graphs inside Next; the registry must be one.
const shared = globalThis as unknown as Record<symbol, Metrics | undefined>

function metrics(): Metrics {
  const existing = shared[KEY]
  if (existing) return existing
  const registry = new Registry()
  const instruments = new Map<string, Instrument>()
  for (const [name, metric] of Object.entries<Metric>(METRICS))
    instruments.set(name, instrument(name, metric, registry))
  const made = { registry, instruments, queues: new Set<string>() }
  shared[KEY] = made
  return made
}

function instrument(name: string, metric: Metric, registry: Registry): Instrument {
  const options = { name, help: metric.help, labelNames: [...metric.labels], registers: [registry] }
  if (metric.type === 'counter') return new Counter(options)
  if (metric.type === 'gauge') return new Gauge(options)
  return new Histogram({ ...options, buckets: [...(metric.buckets ?? [])] })
}

/** Adds to a counter, after the commit that makes it true. */
export function count(name: MetricName, labels: Labels = {}, by = 1): void {
  ;(metrics().instruments.get(name) as Counter).inc(bounded(labels), by)
}

/** Records one observation of a histogram, in seconds. */
export function observe(name: MetricName, labels: Labels, seconds: number): void {
  ;(metrics().instruments.get(name) as Histogram).observe(bounded(labels), Math.max(0, seconds))
}

/** Sets a gauge. */
export function gauge(name: MetricName, labels: Labels, value: number): void {
  ;(metrics().instruments.get(name) as Gauge).set(bounded(labels), value)
}

/**
 * Sets a gauge anew from the tables, all of it at once; what is not among the rows is forgotten. The queues beyond the
 * most there can be share a label: their values are added up, or combined as told.
 */
export function fillGauge(
  name: MetricName,
  rows: readonly (readonly [Labels, number])[],
  combine: (one: number, other: number) => number = (one, other) => one + other,
): void {
  const values = new Map<string, { labels: Labels; value: number }>()
  for (const [given, value] of rows) {
    const labels = bounded(given)
    const key = JSON.stringify(Object.entries(labels).sort())
    const before = values.get(key)
    values.set(key, { labels, value: before ? combine(before.value, value) : value })
  }
  const instrument = metrics().instruments.get(name) as Gauge
  instrument.reset()
  for (const { labels, value } of values.values()) instrument.set(labels, value)
}

/** All metrics of this process as Prometheus text. */
export const exposition = (): Promise<string> => metrics().registry.metrics()

/** The content type of the Prometheus text. */
export const expositionType = Registry.PROMETHEUS_CONTENT_TYPE

function bounded(labels: Labels): Labels {
  const { queue } = labels
  if (queue === undefined) return labels
  const { queues } = metrics()
  if (queues.has(queue)) return labels
  if (queues.size >= MOST_QUEUES) return { ...labels, queue: '__other__' }
  queues.add(queue)
  return labels
}
