import { runEndpoint } from './endpoint-commands'

process.exitCode = await runEndpoint(process.argv.slice(2))
