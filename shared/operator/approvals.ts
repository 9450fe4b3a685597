import * as v from 'valibot'
import type { BankIdentifier } from '../domain/banks/bank.ts'
import { defined } from '../domain/complete.ts'
import * as domain from '../domain/operator/approval.ts'
import type { BulkScope } from '../domain/operator/bulk.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Runtime } from '../runtime.ts'
import * as store from '../store/operator/approvals.ts'
import { changeWrites, type Recording } from '../store/operator/changes.ts'
import { customerHasher } from '../store/operator/customer-hash.ts'
import {
  type ApprovalResult,
  approvalView,
  objectView,
  scopeView,
} from '../views/operator/approval.ts'
import { type Noun, type OperatorCall, personalOf, secretsOf, type Verb } from './verbs.ts'

/** Calls that need an approval are requested, decided and run once (docs/api.md#approvals). */

/** The record of a request or decision, without the request. */
type ApprovalStep = Omit<Recording, 'target'>

const recordingOf = (step: ApprovalStep, approval: domain.Approval): Recording => {
  const { id, options, customer } = approval
  const { provider, bank } = options as { provider?: ProviderId; bank?: BankIdentifier }
  return { ...step, ...defined({ provider, bank, customer }), target: id }
}

const SEALED = '-'

type OptionTexts = Record<string, string>

/** `none` removes a setting and is no secret. */
const textsOf = (options: OptionTexts, names: readonly string[]): OptionTexts =>
  Object.fromEntries(
    Object.entries(options).filter(([name, text]) => names.includes(name) && text !== 'none'),
  )

const concealed = (options: OptionTexts, by: (text: string) => string): OptionTexts =>
  Object.fromEntries(Object.entries(options).map(([name, text]) => [name, by(text)]))

/** Splits the secrets and the personal texts from the other options. */
const split = async (verb: Verb, options: OptionTexts, runtime: Runtime) => {
  const secrets = textsOf(options, secretsOf(verb))
  const plain = textsOf(options, personalOf(verb))
  const masked = { ...options, ...concealed(secrets, () => SEALED) }
  if (Object.keys(plain).length === 0) return { options: masked, secrets, plain }
  const hashed = concealed(plain, await customerHasher(runtime, { replaces: true }))
  return { options: { ...masked, ...hashed }, secrets, plain, customer: hashed.phone }
}

/** What a call acts on, of one object or of many. */
type CallSubject = { object: domain.CallObject; scope: BulkScope | undefined }

export const requestApproval = async (
  { name, verbs }: Noun,
  call: OperatorCall,
  { object, scope, ...step }: ApprovalStep & CallSubject,
  runtime: Runtime,
): Promise<Refusal | { approval: ApprovalResult }> => {
  const verb = verbs[call.verb]
  if (!verb) throw new Error(`Unknown verb ${name} ${call.verb}`)
  if (step.by === domain.UNKNOWN_OPERATOR) return domain.unnamed()
  const id = domain.approvalId(step.at, step.id)
  const { options, secrets, plain, customer } = await split(verb, call.options, runtime)
  const first = Object.keys(verb.options.entries).find((option) => options[option] !== undefined)
  const approval: domain.Approval = {
    id,
    noun: name,
    verb: call.verb,
    target: options[first ?? ''] ?? '',
    options,
    object,
    ...defined({ customer, scope }),
    ...(Object.keys(secrets).length > 0 && {
      secrets: await store.sealSecrets(id, secrets, runtime),
    }),
    decision: 'pending',
    requestedBy: step.by,
    requestedAt: step.at,
    expiresAt: domain.expiryOf(step.at),
  }
  const request = `${name} ${call.verb} ${approval.target}`
  const recording = recordingOf({ ...step, noun: 'approval', verb: 'request' }, approval)
  const shown = { object: objectView(object), scope: scope && scopeView(scope) }
  const fields = { status: 'pending', request, ...shown }
  const record = changeWrites(recording, {}, fields)
  await store.putApproval(approval, plain, record, runtime)
  return { approval: approvalView(domain.withPlain(approval, plain), step.at) }
}

/** Returns why a granted call may not run: it is refused now, or its request shows another object. */
export const refusalOfObject = (
  requested: domain.CallObject,
  current: domain.CallObject | Refusal = {},
): Refusal | undefined => {
  if (current instanceof Refusal) return current
  const [before, after] = [requested, current].map((object) => Object.entries(objectView(object)))
  const differing = (after ?? []).flatMap(([name, text], index) => {
    const shown = before?.[index]?.[1]
    return text === shown ? [] : [`the ${name} is ${text ?? 'none'}, not ${shown ?? 'none'}`]
  })
  return differing.length > 0
    ? new Refusal(1409, { details: `${differing.join(', ')}: request it again` })
    : undefined
}

/** Returns the views of requests; those that can still run have their personal options as typed. */
export const viewsOf = async (approvals: readonly domain.Approval[], at: Date) => {
  const open = approvals.filter((approval) => domain.canRun(approval, at))
  const plain = await store.loadPlainOptions(open)
  return approvals.map((one) => approvalView(domain.withPlain(one, plain.get(one.id)), at))
}

/** Grants or denies a pending request. Returns false if it is already decided or expired. */
export const decide = (
  approval: domain.Approval,
  { decision, reason }: { decision: domain.ApprovalDecision; reason?: string | undefined },
  step: ApprovalStep,
  runtime: Runtime,
): Promise<boolean> => {
  const { by, at } = step
  const fields = { status: decision, reason }
  const record = changeWrites(recordingOf(step, approval), { status: 'pending' }, fields)
  const writes = [...record, ...(decision === 'denied' ? store.plainRemoval(approval) : [])]
  return store.decideApproval(approval.id, { decision, reason, by, at }, writes, runtime)
}

/** @param until the end of this worker's Lambda timeout; another worker may claim the call then */
export const claimGranted = async (
  noun: string,
  approvalText: unknown,
  { id: worker, at, by }: ApprovalStep,
  until: Date,
  runtime: Runtime,
) => {
  const id = v.safeParse(domain.ApprovalId, approvalText)
  const approval = id.success ? await store.findApproval(id.output) : undefined
  if (approval?.noun !== noun) return domain.noSuchApproval()
  const refusal = domain.refusalToGrant(approval, by, at)
  if (refusal) return refusal
  if (approval.decision !== 'granted') {
    return new Refusal(1403, { details: 'the request is not granted' })
  }
  const options = await store.openOptions(approval)
  if (!options) {
    const details = 'a secret of the request cannot be opened: request it again'
    // Else a request that can never run could neither be denied nor run, and would count as unreadable.
    await store.finishApproval(approval, { doneAt: at, refusal: details }, runtime)
    return new Refusal(1409, { details })
  }
  const claim = { id: approval.id, claim: worker, at, until }
  const release = () => store.releaseApproval(claim)
  const isClaimed = await store.claimApproval(claim).catch(async (error) => {
    // Its reply may be lost: the claim would last as long as the function.
    await release().catch(() => false)
    throw error
  })
  if (!isClaimed) {
    return new Refusal(1409, { details: 'the call is in progress or was already made' })
  }
  const { verb, requestedBy, requestedAt, object, scope } = approval
  return {
    options,
    object,
    authors: {
      approval: approval.id,
      by: requestedBy,
      approvedBy: by,
      verb,
      ...(scope && { scope: { ...scope, requestedAt } }),
    },
    /** Ends a call without an effect of its own. */
    finish: (doneAt: Date, refusal?: string) =>
      store.finishApproval(approval, { doneAt, refusal }, runtime),
    /** Ends the claim after a fault, so that the operator can repeat the grant at once. */
    release,
  }
}
