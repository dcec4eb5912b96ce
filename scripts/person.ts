import { runProgram } from './command-line'
import { PERSON } from './person-commands'

process.exitCode = await runProgram(PERSON, process.argv.slice(2))
