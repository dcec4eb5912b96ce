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
  for (const [name, metric] of Object.entries<Metric>(METRICS)) instruments.set(name, instrument(name, metric, registry))
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

/** Forgets all values of a gauge, before it is set anew from the tables. */
export function clearGauge(name: MetricName): void {
  ;(metrics().instruments.get(name) as Gauge).reset()
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
