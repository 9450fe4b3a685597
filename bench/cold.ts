import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Command } from './documents.ts'

/** A bundle in a Node of its own: its import, and its first call on what it stands on. */

const run = promisify(execFile)

/** Milliseconds. */
export type Cold = { import: number; whole: number }

/** @param call the text of an expression that makes the first call of what was imported as `it` */
export const coldStart = async (file: string, call: string): Promise<Cold> => {
  const script = `const begun = performance.now()
    const it = await import(${JSON.stringify(pathToFileURL(file).href)})
    const imported = performance.now()
    await (${call})
    const done = performance.now()
    console.log(JSON.stringify({ import: imported - begun, whole: done - begun }))
    process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
}

/** The first call of one of our functions. */
export const handled = (event: unknown, status: number): string =>
  `it.handler(${JSON.stringify(event)}, { getRemainingTimeInMillis: () => 28_000 }).then((reply) => {
    if (reply.statusCode !== ${status}) throw new Error(reply.body)
  })`

/** The same calls by what is bundled of the SDK alone, one after the other. */
export const sent = (commands: readonly Command[]): string => `(async () => {
    const client = new it._aws_sdk_client_dynamodb_DynamoDBClient({})
    const table = it._aws_sdk_lib_dynamodb_DynamoDBDocumentClient.from(client)
    for (const { name, input } of ${JSON.stringify(commands)}) {
      await table.send(new it['_aws_sdk_lib_dynamodb_' + name](input))
    }
  })()`
