import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** What a function finds in its environment before it is asked anything. */
const env = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' }

const importOnce = async (file: string): Promise<number> => {
  const script = `const before = performance.now()
    await import(${JSON.stringify(pathToFileURL(file).href)})
    console.log(performance.now() - before)
    process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { env })
  return Number(stdout)
}

const median = (figures: number[]): number =>
  figures.sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN

/**
 * Milliseconds to import each file, each time in a fresh process, one after the other: the median.
 * In rounds, so that a slow minute of the machine falls on all of them alike.
 */
export const importTimes = async (
  files: readonly string[],
  rounds: number,
): Promise<Map<string, number>> => {
  const figures = new Map(files.map((file) => [file, [] as number[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [file, measured] of figures) measured.push(await importOnce(file))
  }
  return new Map([...figures].map(([file, measured]) => [file, median(measured)]))
}
