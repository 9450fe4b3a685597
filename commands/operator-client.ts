import { text } from 'node:stream/consumers'
import { GetFunctionUrlConfigCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import { HttpRequest } from '@smithy/core/protocols'
import { SignatureV4 } from '@smithy/signature-v4'
import { LOCAL_STAGE, resourceName } from '../infra/definitions/resource-name.ts'
import { localOperator } from '../sandbox/local-operator.ts'
import { parseJson } from '../shared/domain/json.ts'
import type { CallerReply } from '../shared/operator/caller.ts'
import type { OperatorReply } from '../shared/operator/verbs.ts'
import {
  clientOf,
  type FunctionTarget,
  InvocationFailure,
  invocationFailure,
  invokeFunction,
} from './functions-client.ts'

/**
 * Calls operator functions. On a stage it requests their URLs with the signature of the shell's AWS
 * credentials, so AWS verifies the caller. A sandbox and LocalStack verify nobody: there the call is
 * invoked directly and names its operator.
 */

type VerbCall = { verb: string; options: object }
type StageTarget = Extract<FunctionTarget, { stage: string }>

const isVerified = (target: FunctionTarget): target is StageTarget =>
  'stage' in target && target.stage !== LOCAL_STAGE

const explanations: Record<number, (name: string) => string> = {
  403: (name) => `These AWS credentials do not allow invoking ${name}`,
  429: (name) => `Function ${name} did not run: AWS limits calls; repeat it`,
  502: (name) => `${name}: the function failed; its log has the reason`,
}

const urls = new Map<string, string>()

/** Returns the address of a function's URL, which never changes. */
const urlOf = async (client: LambdaClient, FunctionName: string): Promise<string> => {
  const known = urls.get(FunctionName)
  if (known) return known
  const { FunctionUrl = '' } = await client.send(new GetFunctionUrlConfigCommand({ FunctionName }))
  urls.set(FunctionName, FunctionUrl)
  return FunctionUrl
}

const request = async (target: StageTarget, noun: string, call?: VerbCall) => {
  const name = resourceName(`manage-${noun}`, target.stage)
  const client = clientOf(target)
  try {
    const url = new URL(await urlOf(client, name))
    const { credentials, region, sha256, requestHandler } = client.config
    const signer = new SignatureV4({ service: 'lambda', credentials, region, sha256 })
    const signed = await signer.sign(
      new HttpRequest({
        method: call ? 'POST' : 'GET',
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port && { port: Number(url.port) }),
        path: url.pathname,
        headers: { host: url.host, ...(call && { 'content-type': 'application/json' }) },
        ...(call && { body: JSON.stringify(call) }),
      }),
    )
    const { response } = await requestHandler.handle(new HttpRequest(signed))
    return { name, status: response.statusCode, body: parseJson(await text(response.body)) }
  } catch (error) {
    throw invocationFailure(error as Error, target, name)
  }
}

/**
 * Returns the reply of a verb: its result or the reason of a refusal.
 * @throws InvocationFailure with one line if the target does not answer, or the function does not
 *   exist, is denied or fails
 */
export const operate = async (
  target: FunctionTarget,
  noun: string,
  { verb, options }: VerbCall,
): Promise<OperatorReply> => {
  if (!isVerified(target)) {
    const event = { verb, options, actor: localOperator() }
    return (await invokeFunction(target, `manage-${noun}`, event)) as OperatorReply
  }
  const { name, status, body } = await request(target, noun, { verb, options })
  if (status === 200) return body as OperatorReply
  throw failureOf(name, status)
}

const failureOf = (name: string, status: number) =>
  new InvocationFailure(explanations[status]?.(name) ?? `${name} answers ${status}`)

/** Requests the caller from a noun; also AWS can deny its address. */
const requestCaller = async (target: StageTarget, noun: string) => {
  try {
    return await request(target, noun)
  } catch (error) {
    if ((error as InvocationFailure).cause !== 'AccessDeniedException') throw error
    return { name: noun, status: 403, body: undefined }
  }
}

/** Returns the verified caller if AWS allows a noun to these credentials; undefined if not. */
export const callerOf = async (stage: string, noun: string): Promise<string | undefined> => {
  const target = { stage }
  if (!isVerified(target)) return localOperator()
  const { status, body } = await requestCaller(target, noun)
  return status === 200 ? (body as CallerReply).result.caller : undefined
}

/**
 * Reports whether AWS allows a noun to these credentials.
 * @throws InvocationFailure if its function fails or is throttled
 */
export const isAllowed = async (stage: string, noun: string): Promise<boolean> => {
  const target = { stage }
  if (!isVerified(target)) return true
  const { name, status } = await requestCaller(target, noun)
  if (status !== 200 && status !== 403) throw failureOf(name, status)
  return status === 200
}
