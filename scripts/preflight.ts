import { runProgram } from './command-line'
import { PREFLIGHT } from './preflight-program'

process.exitCode = await runProgram(PREFLIGHT, process.argv.slice(2))
