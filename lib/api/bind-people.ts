import { acceptInvitation } from '#lib/auth/invitations'
import { findPerson, listNames } from '#lib/auth/people'
import { type Bindings, ok } from './call'

/** Who is who, and how somebody becomes a person. */
export const PEOPLE_BINDINGS: Bindings<'getMe' | 'listNames' | 'acceptInvitation'> = {
  getMe: async ({ core, caller }) => {
    if (caller.type === 'endpoint') {
      const { id, name, queues, scopes } = caller
      return ok({
        person: null,
        endpoint: { id, name, queues: queues && [...queues] },
        role: null,
        scopes: [...scopes],
      })
    }
    const { id, name, role } = caller
    const email = (await findPerson(core.database, id))?.email ?? ''
    return ok({ person: { id, name, email }, endpoint: null, role, scopes: null })
  },
  listNames: async ({ core }) => ok({ names: await listNames(core.database) }),
  acceptInvitation: async ({ core, body: { token, ...person } }) => ({
    status: 201,
    body: { person: await acceptInvitation(core.database, token, person) },
  }),
}
