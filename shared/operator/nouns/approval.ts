import * as v from 'valibot'
import { ApprovalId, approvalStatuses } from '../../domain/operator/approval.ts'
import { text } from '../../domain/text.ts'
import { newest, oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const id = option('ID', 'such as 20261122T044107123Z-3f2a9c1e', ApprovalId)

export const approval = {
  name: 'approval',
  summary: 'calls that a second operator must approve',
  verbs: {
    list: {
      summary: 'lists the newest requests',
      options: options({
        status: v.optional(oneOfWords('only those in this status', { options: approvalStatuses })),
        limit: newest,
      }),
    },
    show: { summary: 'shows one request', options: options({ id }) },
    grant: {
      summary: 'carries out the call of another operator and prints its result',
      options: options({ id }),
    },
    deny: {
      summary: 'denies a request; the requester may do so too',
      options: options({
        id,
        reason: v.optional(option('TEXT', 'why', text({ max: 200 }))),
      }),
    },
  },
} as const satisfies Noun
