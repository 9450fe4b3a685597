import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns the milliseconds to import a file in a fresh Node and evaluate an expression on `it`. */
export const coldStart = async (file: string, expression: string, env: NodeJS.ProcessEnv) => {
  const script = `const start = performance.now()
    const it = await import(${JSON.stringify(pathToFileURL(file).href)})
    await (${expression})
    console.log(performance.now() - start)
    process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env })
  return Number(stdout.trim().split('\n').at(-1))
}

/** The variables that Lambda sets and clients read on import. */
const env = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' }

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Returns the median milliseconds of imports; each round imports every file in a fresh process. */
export const importTimes = async (files: readonly string[], rounds: number) => {
  const samples = new Map(files.map((file) => [file, [] as number[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [file, values] of samples) values.push(await coldStart(file, 'it', env))
  }
  return new Map([...samples].map(([file, values]) => [file, median(values)]))
}
