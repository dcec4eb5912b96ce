import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { isTerminal } from '#lib/model/states'
import type { AnswerOf } from '#lib/sdk/client'
import { CARD_FIELDS } from './card'
