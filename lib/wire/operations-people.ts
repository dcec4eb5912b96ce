import { SCOPES } from './caller'
import type { Operation } from './operation'
import * as people from './person'
import * as settings from './setting'

/** Who is calling, and the settings that admins change. */
export const PEOPLE_OPERATIONS = {
  getMe: {
    method: 'GET',
    path: '/api/v1/me',
    summary: 'Who is calling, and what they may',
    scopes: SCOPES,
    role: 'viewer',
    answers: { 200: people.meAnswer },
    writes: false,
  },
  listNames: {
    method: 'GET',
    path: '/api/v1/people/names',
    summary: 'What people are called, by the ids that the log names them by',
    scopes: ['read'],
    role: 'viewer',
    answers: { 200: people.namesAnswer },
    writes: false,
  },
  acceptInvitation: {
    method: 'POST',
    path: '/api/v1/invitations/accept',
    summary: 'Become a person by the token of an invitation, once',
    scopes: 'open',
    body: people.acceptInvitationSchema,
    answers: { 201: people.personAnswer },
    refuses: ['forbidden', 'not_found'],
    writes: true,
  },
  getSettings: {
    method: 'GET',
    path: '/api/v1/settings',
    summary: 'Every setting, as stored and as in force',
    scopes: [],
    role: 'admin',
    answers: { 200: settings.settingsAnswer },
    writes: false,
  },
  putSetting: {
    method: 'PUT',
    path: '/api/v1/settings/{key}',
    summary: 'Change a setting, or take it back to its default; in force in every process within a second',
    scopes: [],
    role: 'admin',
    params: settings.settingParams,
    body: settings.settingChangeSchema,
    answers: { 200: settings.settingAnswer },
    refuses: ['version_conflict'],
    writes: true,
  },
  previewSetting: {
    method: 'GET',
    path: '/api/v1/settings/{key}/preview',
    summary: 'What the next sweep would do were this the setting; nothing changes',
    scopes: [],
    role: 'admin',
    params: settings.settingParams,
    query: settings.previewQuery,
    answers: { 200: settings.previewAnswer },
    writes: false,
  },
} as const satisfies Record<string, Operation>
