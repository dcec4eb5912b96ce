// Who may import whom, as the design's room table has it. A room may always import itself; whatever is not named is
// forbidden, type imports included. A new room is a new row.
const SERVER = ['model', 'wire', 'db', 'ops', 'queue', 'live', 'auth', 'notify', 'api', 'mcp', 'a2a']

const ROOMS = {
  'lib/model': [],
  'lib/wire': ['lib/model'],
  'lib/db': ['lib/model'],
  'lib/ops': ['lib/model'],
  'lib/notify': ['lib/model', 'lib/wire', 'lib/db', 'lib/ops'],
  'lib/live': ['lib/model', 'lib/wire', 'lib/db', 'lib/ops'],
  'lib/queue': ['lib/model', 'lib/wire', 'lib/db', 'lib/ops', 'lib/notify'],
  'lib/auth': ['lib/model', 'lib/wire', 'lib/db', 'lib/ops'],
  'lib/api': SERVER.map((room) => `lib/${room}`),
  'lib/mcp': SERVER.map((room) => `lib/${room}`),
  'lib/a2a': SERVER.map((room) => `lib/${room}`),
  'lib/sdk': ['lib/model', 'lib/wire'],
  'lib/query': ['lib/model', 'lib/wire', 'lib/sdk'],
  components: ['lib/model', 'lib/wire', 'lib/query'],
  app: ['lib', 'components'],
  worker: ['lib'],
  prisma: ['scripts/instance\\.mjs'],
  scripts: ['lib', 'prisma'],
}

const OURS = '^(app|components|lib|worker|prisma|scripts|test|e2e)/'
const PRODUCT = '^(app|components|lib|worker|prisma)/'

const PACKAGE = '(^|/)node_modules/'
const only = (...names) => `(^|/)node_modules/(${names.join('|')})/`

const rooms = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `room-${room.replace('lib/', '')}`,
  comment: `${room} may import ${allowed.join(', ') || 'nothing of ours'}, besides itself.`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: { path: OURS, pathNot: [room, ...allowed].map((name) => `^${name}(/|$)`) },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...rooms,
    {
      name: 'every-room-has-a-row',
      comment: 'A folder under lib/ that the table above does not name has no rules; add its row.',
      severity: 'error',
      from: {},
      to: { path: '^lib/', pathNot: Object.keys(ROOMS).map((room) => `^${room}/`) },
    },
    {
      name: 'model-is-pure',
      comment: 'The words and rules know zod and no other package.',
      severity: 'error',
      from: { path: '^lib/model/' },
      to: { path: PACKAGE, pathNot: only('zod') },
    },
    {
      name: 'browser-rooms-are-pure',
      comment: 'What a browser or an agent imports must not need Node, or a server’s packages.',
      severity: 'error',
      from: { path: '^(components|lib/(model|wire|sdk|query))/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'sdk-is-fetch-only',
      comment: 'An agent gets the SDK without a tree of packages behind it.',
      severity: 'error',
      from: { path: '^lib/sdk/' },
      to: { path: PACKAGE, pathNot: only('zod') },
    },
    {
      name: 'query-is-tanstack',
      comment: 'Server state in the browser is TanStack Query and React, and the parser of its event stream.',
      severity: 'error',
      from: { path: '^lib/query/' },
      to: { path: PACKAGE, pathNot: only('@tanstack', 'react', '@types/react', 'zod', 'eventsource-parser') },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or miss a third.',
      severity: 'error',
      from: { path: OURS },
      to: { circular: true },
    },
    {
      name: 'no-unresolved',
      comment: 'The import leads nowhere.',
      severity: 'error',
      from: { path: OURS },
      to: { couldNotResolve: true },
    },
    {
      name: 'no-test-packages-in-the-product',
      comment: 'devDependencies are missing in production. Types are the exception.',
      severity: 'error',
      from: { path: PRODUCT },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: only('@types'),
      },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^lib/db/generated/'] },
    exclude: { path: ['^\\.next/', '^dist/', '^next-env\\.d\\.ts$'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
      extensions: ['.ts', '.tsx', '.d.ts', '.mts', '.mjs', '.js', '.cjs', '.json'],
    },
    cache: { folder: 'node_modules/.cache/dependency-cruiser', strategy: 'content' },
  },
}
