import * as v from 'valibot'
import { ApprovalId, approvalStatuses } from '../../domain/operator/approval.ts'
import { GENERATION_MAX } from '../../domain/operator/restore.ts'
import { type QueueName, queueNames } from '../../queues/messages.ts'
import * as o from '../options.ts'
import type { Noun } from '../verbs.ts'

const id = o.option('ID', 'request id, such as 20261122T044107123Z-3f2a9c1e', ApprovalId)

export const approval = {
  name: 'approval',
  summary: 'approval of calls by a second operator',
  verbs: {
    list: {
      effect: 'reads',
      shows: 'customers',
      summary: 'lists requests, newest first',
      options: o.options({
        status: o.optionalWord('only requests in this status', { options: approvalStatuses }),
        ...o.page,
      }),
    },
    show: {
      effect: 'reads',
      shows: 'customers',
      summary: 'shows one request',
      options: o.options({ id }),
    },
    grant: {
      effect: 'settings',
      // The function of the call records what it prints.
      shows: 'no customer',
      summary: 'runs the requested call of another operator and prints its result',
      options: o.options({ id }),
    },
    deny: {
      effect: 'settings',
      shows: 'no customer',
      summary: 'denies a request; a requester asks an approver to deny their own',
      options: o.options({ id, reason: v.optional(o.reason('reason')) }),
    },
  },
} as const satisfies Noun

export const change = {
  name: 'change',
  summary: 'record of changes by operators',
  shows: 'no customer',
  verbs: {
    list: {
      effect: 'reads',
      summary: 'lists changes, newest first; of all or of one provider, bank or customer',
      options: v.pipe(
        o.options({ ...o.owner, phone: v.optional(o.phone), ...o.page }),
        v.check(
          ({ provider, bank, phone }) => o.countOf(provider, bank, phone) <= 1,
          'name one of --provider, --bank and --phone',
        ),
      ),
    },
    verify: {
      effect: 'reads',
      printsLines: true,
      summary:
        'compares the sealed audit of each day with bucket and table; exits 1 at a difference',
      options: o.options({ from: o.day('first UTC day'), to: o.day('last UTC day') }),
    },
  },
} as const satisfies Noun

const generation = o.option(
  'N',
  `highest generation plus one, 2-${GENERATION_MAX}; the highest repeats its call`,
  o.wholeNumber({ min: 2, max: GENERATION_MAX }),
)

export const restore = {
  name: 'restore',
  summary: 'restores of the table to an earlier second',
  shows: 'no customer',
  verbs: {
    begin: {
      effect: 'settings',
      summary: 'records a restore; holds timeouts, payouts and refunds of all providers',
      options: o.options({ generation }),
    },
    release: {
      effect: 'settings',
      summary: 'ends the hold of one provider or of all',
      options: o.options({ provider: v.optional(o.provider) }),
    },
    show: {
      effect: 'reads',
      summary: 'shows the last restore and the providers on hold',
      options: o.options({}),
    },
  },
} as const satisfies Noun

export const secret = {
  name: 'secret',
  summary: 'sealed secrets of providers and banks',
  shows: 'no customer',
  verbs: {
    reseal: {
      effect: 'settings',
      summary:
        'seals secrets and erased numbers again with the current key, and counts unreadable ones',
      options: o.options({}),
    },
  },
} as const satisfies Noun

const queues = { options: queueNames as [QueueName, ...QueueName[]] }

export const deadLetters = {
  name: 'dead-letters',
  summary: 'messages that were not handled after all retries',
  shows: 'no customer',
  verbs: {
    list: {
      effect: 'reads',
      summary: 'counts the dead letters of each queue, or shows the first ones of one queue',
      options: o.options({ queue: o.optionalWord('only this queue', queues) }),
    },
    redrive: {
      // Consumers tolerate duplicates: a letter repeats work that its item still allows.
      effect: 'settings',
      summary: 'moves dead letters back to their queue; repeat it while some remain',
      options: o.options({ queue: o.oneOfWords('queue of the letters', queues) }),
    },
  },
} as const satisfies Noun
