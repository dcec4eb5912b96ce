import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { METRICS, type Metric } from '#lib/model/metrics'
import { SETTINGS, type Setting } from '#lib/model/settings'
import { ROOT } from '#scripts/instance.mjs'
import { errorsPage, operationsPage } from './docs-operations'
import { statesPage } from './docs-states'
import { code, codes, page, table } from './docs-text'

const FOLDER = 'docs/reference'

/** The generated pages by their path in the repository. */
export function referencePages(): Map<string, string> {
  const pages = {
    states: statesPage(),
    settings: settingsPage(),
    errors: errorsPage(),
    metrics: metricsPage(),
    operations: operationsPage(),
  }
  return new Map(Object.entries(pages).map(([name, text]) => [`${FOLDER}/${name}.md`, text]))
}

function settingsPage(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([key, setting]) => [
    code(key),
    `${setting.default} ${setting.unit}`,
    `${setting.minimum} to ${setting.maximum}${setting.off ? ', or 0 for off' : ''}`,
    setting.description,
  ])
  return page('Settings', '`lib/model/settings.ts`', [
    'Rows of the table `settings` (`key`, `value` as text). A missing row means the default. A text that is not an integer leaves the default in force; a number outside the range is raised or lowered to its nearest end. No change needs a restart.',
    table(['Key', 'Default', 'Range in force', 'Meaning'], rows),
  ])
}

function metricsPage(): string {
  const rows = Object.entries<Metric>(METRICS).map(([name, { type, labels, help, buckets }]) => [
    code(name),
    type,
    codes(labels),
    `${help}.${buckets ? ` Buckets in seconds: ${buckets.join(', ')}.` : ''}`,
  ])
  return page('Metrics', '`lib/model/metrics.ts`', [
    'Prometheus text at `/metrics`, on the web process and on the worker. A counter moves once for each fact, in the process that committed it, so sum a counter over all processes. Labels never hold ids, titles or people; beyond 200 queues the rest is counted under `__other__`.',
    table(['Metric', 'Type', 'Labels', 'What it says'], rows),
  ])
}

function write(): void {
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  for (const [path, text] of referencePages()) writeFileSync(join(ROOT, path), text)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) write()
