import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseJson } from '../../shared/domain/json.ts'
import type { CallVerb } from '../../shared/operator/results.ts'
import { Mismatch } from '../expect.ts'
import type { FunctionTarget } from '../functions-client.ts'
import { operate } from '../operator-client.ts'

/** Returns the call of a verb of an operator function. @throws Mismatch with the reason of a refusal */
export const operatorOf =
  (target: FunctionTarget): CallVerb =>
  async <R>(noun: string, verb: string, options: object) => {
    const reply = await operate(target, noun, { verb, options })
    if ('error' in reply) throw new Mismatch(`a result of ${noun} ${verb}`, reply.error)
    return reply.result as R
  }

const isPacked = import.meta.url.endsWith('.mjs')
const COMMAND = join(import.meta.dirname, isPacked ? 'debit.mjs' : '../debit.ts')
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024

/** Returns a function that runs the operator command and parses its output. */
export const operatorCommandOf = (target: FunctionTarget) => {
  const option = 'port' in target ? ['--port', String(target.port)] : ['--stage', target.stage]
  return async <T>(...words: string[]): Promise<T> => {
    // Not by npm: the workflow installs without scripts, and the package has none.
    const args = [COMMAND, 'operator', ...words, ...option]
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      maxBuffer: OUTPUT_MAX_BYTES,
    }).catch(({ stderr }: { stderr?: string }) => {
      throw new Mismatch(`a document from operator ${words.slice(0, 2).join(' ')}`, stderr ?? '')
    })
    const document = parseJson(stdout)
    if (document === undefined) throw new Mismatch('a JSON document', stdout)
    return document as T
  }
}

/**
 * Finds the base address of a stage's API, and its version, in the outputs of its stacks.
 * @throws Mismatch if no stack has an address
 */
export const deployedApi = async (stage: string) => {
  // Loaded for stages only: a sandbox has no CloudFormation.
  const { CloudFormationClient, paginateDescribeStacks } = await import(
    '@aws-sdk/client-cloudformation'
  )
  const name = new RegExp(`^debit-collection-${stage}-[a-z]+$`)
  for await (const page of paginateDescribeStacks({ client: new CloudFormationClient() }, {})) {
    const stacks = (page.Stacks ?? []).filter(({ StackName = '' }) => name.test(StackName))
    const outputs = stacks.flatMap(({ Outputs = [] }) => Outputs)
    const output = (key: string) => outputs.find(({ OutputKey }) => OutputKey === key)?.OutputValue
    const address = output('ApiAddress')
    if (address) return { address: withoutSlash(address), version: output('Version') }
  }
  throw new Mismatch(`an output ApiAddress of debit-collection-${stage}-*`, 'none')
}

export const withoutSlash = (address: string): string => address.replace(/\/+$/, '')
