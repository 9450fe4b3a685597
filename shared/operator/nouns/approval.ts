import * as v from 'valibot'
import { ApprovalId, approvalStatuses } from '../../domain/operator/approval.ts'
import { text } from '../../domain/text.ts'
import { newest, oneOfWords, option, options } from '../options.ts'
import type { Noun } from '../verbs.ts'

const id = option('ID', 'request id, such as 20261122T044107123Z-3f2a9c1e', ApprovalId)

export const approval = {
  name: 'approval',
  summary: 'approval of calls by a second operator',
  verbs: {
    list: {
      summary: 'lists requests, newest first',
      options: options({
        status: v.optional(
          oneOfWords('only requests in this status', { options: approvalStatuses }),
        ),
        limit: newest,
      }),
    },
    show: { summary: 'shows one request', options: options({ id }) },
    grant: {
      summary: 'runs the requested call of another operator and prints its result',
      options: options({ id }),
    },
    deny: {
      summary: 'denies a request; the requester can also deny it',
      options: options({
        id,
        reason: v.optional(option('TEXT', 'reason', text({ max: 200 }))),
      }),
    },
  },
} as const satisfies Noun
