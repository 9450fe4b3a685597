import type { Context } from 'aws-lambda'
import type { FunctionRow } from '../../infra/definitions/functions.ts'
import type { Runtime } from '../../shared/runtime.ts'

/** A function of the service as Lambda invokes it; each has an event and a reply of its own. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type LambdaHandler = (event: any, context: Context) => Promise<unknown>

/**
 * Loads a function, which exports its handler and the function that makes one for a runtime. A bundler
 * includes every file that this path may name.
 */
export const loadFunction = async ({ entry }: Pick<FunctionRow, 'entry'>) => {
  const file = entry.replace('functions/', '')
  const { handler: _, ...others } = await import(/* @vite-ignore */ `../../functions/${file}`)
  const [make] = Object.values(others) as [(runtime: Runtime) => LambdaHandler]
  return make
}
