import type { Check } from './observation-index.ts'

/** 69: a provider's request has one decision, which the debit and both sides agree on. */

/** The lifecycle of requests, independent of the product. */
const REQUESTED = 'completed'
const ACCEPTED = 'reversed'

export const requestsAreStored: Check = ({ observations, debits, requestsOf }, report) => {
  if (observations.setup.isRestored) return
  for (const { name, caller, path, reply } of observations.calls) {
    if (name !== 'request-reversal' || reply?.status !== 202) continue
    const reference = String(path.reference)
    const debit = debits.get(reference)?.item
    if (debit?.provider !== caller?.id) report(reference, `was requested by ${caller?.id}`)
    if (requestsOf.get(reference)?.length !== 1) report(reference, 'has no request, or several')
  }
}

export const requestsBelongToTheirDebits: Check = ({ debits, requestsOf }, report) => {
  for (const [reference, { item, changes }] of debits) {
    const requests = requestsOf.get(reference) ?? []
    const [request] = requests
    if (requests.length > 1 || request?.requestId !== item.reversalRequest?.rid) {
      report(reference, `names the request ${item.reversalRequest?.rid} of ${requests.length}`)
    }
    if (!request) continue
    const begin = changes.find(
      ({ before, after }) => !before?.reversalRequest && after?.reversalRequest,
    )
    if (begin && begin.after?.status !== REQUESTED) {
      report(reference, `was requested as ${begin.after?.status}`)
    }
    if (!request.resolvedAt && item.status === ACCEPTED) report(reference, 'has an open request')
    if (request.isAccepted && item.status !== ACCEPTED) report(reference, 'was not reversed')
  }
}

/** A reversal decides an open request in its own transaction. Only a note declines one. */
export const requestsAreDecidedOnce: Check = (index, report) => {
  if (index.observations.setup.isRestored) return
  for (const { before, after, transaction } of index.exceptionChanges) {
    if (after?.kind !== 'reversal_request' || before?.resolvedAt === after.resolvedAt) continue
    const { reference, isAccepted } = after
    const isReversed = index.debits
      .get(reference)
      ?.changes.some(
        (change) => change.transaction === transaction && change.after?.status === ACCEPTED,
      )
    if (before?.resolvedAt) report(reference, 'has a second decision')
    if (after.resolvedAt && isAccepted !== isReversed) {
      report(reference, `is ${isAccepted ? 'accepted' : 'declined'} against its reversal`)
    }
  }
}
