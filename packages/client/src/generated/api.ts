/** Generated from openapi.json by `npm run generate`. */
export interface paths {
    "/v1/audit-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit events
         * @description Lists the changes that the token covers, newest first. Events are kept for 400 days. A page with a `next_cursor` may have fewer items than `limit`, or none, if few events match the filters or changes are large. Continue with the cursor.
         *
         *     It needs the scope `audit:read`.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two configuration versions
         * @deprecated
         * @description **Deprecated.** Use `GET /v1/environments/{name}/diff`.
         *
         *     Lists the services and routes that differ between two versions and that the token covers.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["diffConfigVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll the configuration back
         * @deprecated
         * @description **Deprecated.** Use `POST /v1/environments/{name}/rollback`.
         *
         *     Restores the services and routes of a version and publishes them as a new version. Tokens do not change. The token also needs the scopes `services:write` and `routes:write`, and must cover all routes.
         *
         *     It needs the scope `config:write`.
         */
        post: operations["rollBackConfig"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List configuration versions
         * @deprecated
         * @description **Deprecated.** Use `GET /v1/environments/{name}/versions`.
         *
         *     Lists the stored versions of the configuration of an environment, newest first.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["listConfigVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/config/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a configuration version
         * @deprecated
         * @description **Deprecated.** Use `GET /v1/environments/{name}/versions/{version}`.
         *
         *     Says when, why and by whom a version of the configuration of an environment was made.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["getConfigVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/data-planes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List data planes
         * @description Lists the data planes by id, with the configuration versions that they serve. Only environments that the token covers are shown.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["listDataPlanes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List environments
         * @description Lists the environments that the token covers, by name.
         *
         *     Any token may call it.
         */
        get: operations["listEnvironments"];
        put?: never;
        /**
         * Create an environment
         * @description Creates an environment. The token must cover all environments (`*`).
         *
         *     It needs the scope `config:write`.
         */
        post: operations["createEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an environment
         * @description Returns one environment. The ETag is the number of the newest version, which a rollback takes as `If-Match`. Until a version of its own is published, it also has characters of the id.
         *
         *     Any token may call it.
         */
        get: operations["getEnvironment"];
        put?: never;
        post?: never;
        /**
         * Delete an environment
         * @description Deletes an environment that has no services, routes and tokens of its own. Tokens of all environments stay. The token must cover all environments (`*`).
         *
         *     It needs the scope `config:write`.
         */
        delete: operations["deleteEnvironment"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply services and routes
         * @description Makes services and routes as the document declares them, by name, and shows the exact difference. All changes are one transaction and one version of the configuration, or nothing is changed. The same document again changes nothing. The path of a detail of an error is a JSON pointer into the document.
         *
         *     It needs the scopes `services:write` and `routes:write`; for a dry run `services:read` and `routes:read`, and `services:write` if the document has a secret, because the difference says whether it is the stored one. The token must cover each route of the document, and to prune all routes.
         */
        post: operations["applyEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare two versions of an environment
         * @description Lists the services and routes that differ between two versions and that the token covers.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["diffEnvironmentVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export services and routes
         * @description Returns the services and routes of an environment as apply takes them, by name, without defaults. Secrets are references such as `${PAYMENTS_TOKEN}`; an apply that has a reference keeps the secret. Routes that the token does not cover are left out.
         *
         *     It needs the scopes `services:read` and `routes:read`.
         */
        get: operations["exportEnvironment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll an environment back
         * @description Restores the services and routes of a version and publishes them as a new version. Tokens do not change. The token also needs the scopes `services:write` and `routes:write`, and must cover all routes. With `If-Match` and the ETag of the environment, it happens only if its newest version is still that one. With `dry_run` it shows what would change, and changes nothing.
         *
         *     It needs the scope `config:write`.
         */
        post: operations["rollBackEnvironment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of an environment
         * @description Lists the stored versions of the configuration of an environment, newest first.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["listEnvironmentVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/environments/{name}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a version of an environment
         * @description Says when, why and by whom a version of the configuration of an environment was made.
         *
         *     It needs the scope `config:read`.
         */
        get: operations["getEnvironmentVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read this document
         * @description Returns the OpenAPI document of the management API. It needs no token.
         */
        get: operations["getOpenApiDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List request records
         * @description Lists request records, newest first. A page with a `next_cursor` may have fewer items than `limit`, or none, if few requests match the filters or records are large. Continue with the cursor.
         *
         *     It needs the scope `requests:read`.
         */
        get: operations["listRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the record of a request
         * @description Returns the record of a proxied request. The id is in the header `X-Request-Id` of the response to it. The record of a request that just ended may arrive up to 2 seconds later; the call waits for it.
         *
         *     It needs the scope `requests:read`.
         */
        get: operations["getRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List routes
         * @description Lists the routes that the token covers, oldest first, without those that this release cannot read.
         *
         *     It needs the scope `routes:read`.
         */
        get: operations["listRoutes"];
        put?: never;
        /**
         * Create a route
         * @description Creates a route to an existing service, in the environment of that service. The route serves requests to `/v1/proxy/{name}` as soon as the data planes have the new configuration.
         *
         *     It needs the scope `routes:write`.
         */
        post: operations["createRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/routes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a route
         * @description Returns one route.
         *
         *     It needs the scope `routes:read`.
         */
        get: operations["getRoute"];
        /**
         * Create or replace a route by name
         * @description Creates the route of this name, or replaces all its settings: a setting that is left out gets its default. The same body again changes nothing. A body may have what GET shows. `If-None-Match: *` only creates, `If-Match` only replaces.
         *
         *     It needs the scope `routes:write`.
         */
        put: operations["putRoute"];
        post?: never;
        /**
         * Delete a route
         * @description Deletes a route. Requests to it are answered with 404 from then on.
         *
         *     It needs the scope `routes:write`.
         */
        delete: operations["deleteRoute"];
        options?: never;
        head?: never;
        /**
         * Change a route
         * @description Changes the fields that are in the body. Objects are merged (RFC 7396); lists and `auth` are replaced. A route that tokens name keeps its name. A body may have all fields that GET shows: those that are unchanged do nothing.
         *
         *     It needs the scope `routes:write`.
         */
        patch: operations["updateRoute"];
        trace?: never;
    };
    "/v1/routes/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain a request
         * @description Says what would happen to a request through the route on a live data plane: what each stage decides and why, the version, the quota, the idempotency key, the upstreams and the retry policy. Nothing is sent, and no quota, key or record changes. The answer has the names of headers only, never a value.
         *
         *     It needs the scope `config:read`.
         */
        post: operations["explainRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List services
         * @description Lists the services that the token covers, oldest first, without those that this release cannot read. A page with a `next_cursor` may have fewer items than `limit` if services have large certificates.
         *
         *     It needs the scope `services:read`.
         */
        get: operations["listServices"];
        put?: never;
        /**
         * Create a service
         * @description Creates a service. `environment` may be left out if the token covers only one.
         *
         *     It needs the scope `services:write`.
         */
        post: operations["createService"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a service
         * @description Returns one service.
         *
         *     It needs the scope `services:read`.
         */
        get: operations["getService"];
        /**
         * Create or replace a service by name
         * @description Creates the service of this name, or replaces all its settings: a setting that is left out gets its default, and a `credential` that is left out is removed. The same body again changes nothing. A body may have what GET shows: a credential as it is shown stays. `If-None-Match: *` only creates, `If-Match` only replaces.
         *
         *     It needs the scope `services:write`.
         */
        put: operations["putService"];
        post?: never;
        /**
         * Delete a service
         * @description Deletes a service. A service that a route uses cannot be deleted.
         *
         *     It needs the scope `services:write`.
         */
        delete: operations["deleteService"];
        options?: never;
        head?: never;
        /**
         * Change a service
         * @description Changes the fields that are in the body. Objects are merged (RFC 7396), lists are replaced. A body may have all fields that GET shows: those that are unchanged do nothing.
         *
         *     It needs the scope `services:write`.
         */
        patch: operations["updateService"];
        trace?: never;
    };
    "/v1/services/{id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the health of a service
         * @description Shows the health of each upstream of a service, for each region and each live data plane, as in their last heartbeats.
         *
         *     It needs the scope `services:read`.
         */
        get: operations["getServiceHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count requests
         * @description Counts requests and errors, and estimates percentiles of their durations, for a period of the last 30 days and for steps of it. The counts are those of the request records that the token covers. They include a request within a second after its response.
         *
         *     It needs the scope `requests:read`.
         */
        get: operations["getStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats/routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count requests by route
         * @description Counts requests and errors, and estimates percentiles of their durations, for the routes with the most requests, errors or time. Requests to routes that do not exist are left out.
         *
         *     It needs the scope `requests:read`.
         */
        get: operations["listRouteStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description Lists the tokens that have no more rights than the token of the call, oldest first. Secrets are not shown.
         *
         *     It needs the scope `tokens:read`.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create a token
         * @description Creates a token. Only this response contains its secret. A token cannot grant rights that it does not have.
         *
         *     It needs the scope `tokens:write`.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a token
         * @description Returns one token, without its secret.
         *
         *     It needs the scope `tokens:read`.
         */
        get: operations["getToken"];
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Revokes a token. It cannot be restored.
         *
         *     It needs the scope `tokens:write`.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        /**
         * Change a token
         * @description Changes the name or the expiry of a token. Its rights and its secret stay.
         *
         *     It needs the scope `tokens:write`.
         */
        patch: operations["updateToken"];
        trace?: never;
    };
    "/v1/tokens/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a token a new secret
         * @description Replaces the secret of a token. The old secret stays valid for `grace_seconds`. Only this response contains the new secret.
         *
         *     It needs the scope `tokens:write`.
         */
        post: operations["rotateToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show the token of the call
         * @description Shows the token of the call: its name, its reach, its scopes and when it expires.
         *
         *     Any token may call it.
         */
        get: operations["getCaller"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What an apply has changed, or would change. */
        ApplyResult: {
            /**
             * @description Whether anything differs.
             * @example true
             */
            changed: boolean;
            /** @description Each change: services, then routes, by name. */
            changes: {
                /**
                 * @description What happens to it.
                 * @example updated
                 * @enum {string}
                 */
                action: "created" | "updated" | "deleted";
                /**
                 * @description Of a creation: the resource with all its settings.
                 * @example null
                 */
                after: {
                    [key: string]: unknown;
                } | null;
                /**
                 * @description Of a deletion: the resource with all its settings.
                 * @example null
                 */
                before: {
                    [key: string]: unknown;
                } | null;
                /** @description Of an update: the fields that differ. */
                fields: {
                    /**
                     * @description The new value. null: none.
                     * @example 1000
                     */
                    after: unknown;
                    /**
                     * @description The old value. null: none.
                     * @example 60000
                     */
                    before: unknown;
                    /**
                     * @description The field, as a JSON pointer into the resource.
                     * @example /rate_limit/limit
                     */
                    path: string;
                    /**
                     * @description true: the secret differs. No secret is shown.
                     * @example true
                     * @constant
                     */
                    secret_changed?: true;
                }[];
                /**
                 * @description The name of the resource.
                 * @example charges
                 */
                name: string;
                /**
                 * @description The id of the resource. null: a dry run would create it.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                resource_id: string | null;
                /**
                 * @description The kind of resource.
                 * @example route
                 * @enum {string}
                 */
                resource_type: "service" | "route";
            }[];
            /**
             * @description true: nothing was changed; this is what would change.
             * @example false
             */
            dry_run: boolean;
            /**
             * @description The name of the environment.
             * @example production
             */
            environment: string;
            /** @description The counts of routes. */
            routes: {
                /**
                 * @description How many are created.
                 * @example 1
                 */
                created: number;
                /**
                 * @description How many are deleted.
                 * @example 1
                 */
                deleted: number;
                /**
                 * @description How many of the document are the same already.
                 * @example 1
                 */
                unchanged: number;
                /**
                 * @description How many are changed.
                 * @example 1
                 */
                updated: number;
            };
            /** @description The counts of services. */
            services: {
                /**
                 * @description How many are created.
                 * @example 1
                 */
                created: number;
                /**
                 * @description How many are deleted.
                 * @example 1
                 */
                deleted: number;
                /**
                 * @description How many of the document are the same already.
                 * @example 1
                 */
                unchanged: number;
                /**
                 * @description How many are changed.
                 * @example 1
                 */
                updated: number;
            };
        };
        /** @description A change through this API, or by the control plane when it started. */
        AuditEvent: {
            /**
             * @description What was done.
             * @example route.updated
             * @enum {string}
             */
            action: "service.created" | "service.updated" | "service.deleted" | "route.created" | "route.updated" | "route.deleted" | "token.created" | "token.updated" | "token.rotated" | "token.revoked" | "environment.created" | "environment.deleted" | "environment.rolled_back";
            /**
             * @description The resource after the change. null: it was deleted.
             * @example {
             *       "timeout_ms": 5000
             *     }
             */
            after: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The resource before the change. null: it was created.
             * @example {
             *       "timeout_ms": 10000
             *     }
             */
            before: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The address of the caller. null: the control plane itself.
             * @example 203.0.113.7
             */
            client_ip: string | null;
            /**
             * @description The environments of the resource.
             * @example [
             *       "production"
             *     ]
             */
            environments: string[];
            /**
             * @description The id of the event.
             * @example aud_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * Format: date-time
             * @description When the change was made.
             * @example 2026-03-01T09:30:00.000Z
             */
            occurred_at: string;
            /**
             * @description The call that made the change. null: the control plane itself.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string | null;
            /**
             * @description The id of the resource; of an environment, its name.
             * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            resource_id: string;
            /**
             * @description The kind of resource.
             * @example route
             * @enum {string}
             */
            resource_type: "service" | "route" | "token" | "environment";
            /**
             * @description The token of the call. null: the control plane itself, when it started.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            token_id: string | null;
        };
        /** @description A page of a list. */
        AuditEventPage: {
            /** @description The items of this page. */
            data: components["schemas"]["AuditEvent"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /** @description The token of the call. */
        Caller: {
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The token that created it. null: the control plane.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            created_by: string | null;
            /**
             * @description Its scopes and those that they contain. `*`: all.
             * @example [
             *       "config:write",
             *       "config:read",
             *       "audit:read"
             *     ]
             */
            effective_scopes: string[];
            /**
             * @description The environments that the token covers. `*`: all.
             * @example [
             *       "production"
             *     ]
             */
            environments: ("*" | string)[];
            /**
             * @description When the token expires. null: never.
             * @example 2027-01-31T12:00:00.000Z
             */
            expires_at: string | null;
            /**
             * @description The id of the token.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * @description When it was last used, exact to about a minute. Calls of this API and of routes count. null: never.
             * @example 2026-03-01T09:30:00.000Z
             */
            last_used_at: string | null;
            /**
             * @description The name of the token, for people. It is unique among the tokens of each environment that it covers; the tokens of all environments (`*`) have names of their own.
             * @example billing
             */
            name: string;
            /**
             * @description The names of the routes that the token covers. `*`: all.
             * @example [
             *       "charges"
             *     ]
             */
            routes: ("*" | string)[];
            /**
             * @description What the token may do. `*`: everything.
             * @example [
             *       "proxy"
             *     ]
             */
            scopes: ("services:read" | "services:write" | "routes:read" | "routes:write" | "requests:read" | "tokens:read" | "tokens:write" | "config:read" | "config:write" | "audit:read" | "proxy" | "*")[];
            /**
             * @description When the secret of this call ends: at the end of the grace period if it was rotated, or with the token. null: never.
             * @example null
             */
            secret_expires_at: string | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
        /** @description A service or a route that differs between two versions. */
        ConfigDifference: {
            /**
             * @description The resource in version `to`. null: it was removed.
             * @example {
             *       "timeout_ms": 5000
             *     }
             */
            after: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The resource in version `from`. null: it was added.
             * @example {
             *       "timeout_ms": 10000
             *     }
             */
            before: {
                [key: string]: unknown;
            } | null;
            /**
             * @description What differs.
             * @example changed
             * @enum {string}
             */
            change: "added" | "removed" | "changed";
            /**
             * @deprecated
             * @description The same as `resource_id`.
             * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * @description The name of the resource, in the later version if it is there.
             * @example charges
             */
            name: string;
            /**
             * @description The id of the resource.
             * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            resource_id: string;
            /**
             * @description The kind of resource.
             * @example route
             * @enum {string}
             */
            resource_type: "service" | "route";
        };
        /** @description A page of a list. */
        ConfigDifferencePage: {
            /** @description The items of this page. */
            data: components["schemas"]["ConfigDifference"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /** @description A version of the configuration of an environment. */
        ConfigVersion: {
            /**
             * @description The ids of the tokens that made them, at most 50.
             * @example [
             *       "tok_01k2m8v4zj5r7c9e1g3p6t8w0x"
             *     ]
             */
            changed_by: string[];
            /** @description The services and routes that they changed and that the token covers, at most 10. */
            changed_resources: {
                /**
                 * @description What differs.
                 * @example changed
                 * @enum {string}
                 */
                change: "added" | "removed" | "changed";
                /**
                 * @description The names of the fields that differ; empty if it was added or removed.
                 * @example [
                 *       "status"
                 *     ]
                 */
                fields: string[];
                /**
                 * @description The name of the resource.
                 * @example charges
                 */
                name: string;
                /**
                 * @description The id of the resource.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                resource_id: string;
                /**
                 * @description The kind of resource.
                 * @example route
                 * @enum {string}
                 */
                resource_type: "service" | "route";
            }[];
            /**
             * @description The number of changes of services, routes and tokens.
             * @example 1
             */
            changes: number;
            /**
             * @description Whether it is the newest version. A former one never is.
             * @example true
             */
            current: boolean;
            /**
             * @description The name of the environment.
             * @example production
             */
            environment: string;
            /**
             * @description Whether it is a version of a deleted environment that had the name before. Only a token of all environments sees such versions, and a rollback to one is not possible.
             * @example false
             */
            former: boolean;
            /**
             * Format: date-time
             * @description When the version was published.
             * @example 2026-03-01T09:30:00.000Z
             */
            published_at: string;
            /**
             * @description `changed`, or why the version was published although nothing had changed.
             * @example changed
             */
            reason: string;
            /**
             * @description The version that a rollback restored with this one. null: none.
             * @example null
             */
            restored_version: number | null;
            /**
             * @description The number of the version. Numbers rise by 1.
             * @example 42
             */
            version: number;
        };
        /** @description A page of a list. */
        ConfigVersionPage: {
            /** @description The items of this page. */
            data: components["schemas"]["ConfigVersion"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /** @description A data plane as its last heartbeat describes it. */
        DataPlane: {
            /** @description The configuration that it serves, by environment. */
            environments: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                environment: string;
                /**
                 * @description Why it does not serve the newest version that it knows of. null: it does.
                 * @example null
                 */
                last_error: string | null;
                /**
                 * @description The newest published version.
                 * @example 42
                 */
                newest_version: number;
                /**
                 * @description The seconds since the first version that it does not serve was published. null: not known.
                 * @example 0
                 */
                seconds_behind: number | null;
                /**
                 * @description The first of them, without those that the token does not cover.
                 * @example []
                 */
                unusable: {
                    /**
                     * @description Its id.
                     * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                     */
                    id: string;
                    /**
                     * @description What it is.
                     * @example route
                     * @enum {string}
                     */
                    kind: "service" | "route" | "token";
                    /**
                     * @description Of a route: its name.
                     * @example charges
                     */
                    name: string | null;
                    /**
                     * @description Why the data plane cannot use it.
                     * @example auth.type Invalid input
                     */
                    reason: string;
                }[];
                /**
                 * @description How many routes, services and tokens of the served version it cannot use. It refuses requests to such routes with 503 `route_unusable`, and does not know such tokens.
                 * @example 0
                 */
                unusable_count: number;
                /**
                 * @description The version that it serves. null: none.
                 * @example 42
                 */
                version: number | null;
                /**
                 * @description How many versions it is behind.
                 * @example 0
                 */
                versions_behind: number;
            }[];
            /**
             * @description The version of its software. null: it does not report it.
             * @example 0.1.0
             */
            gateway_version: string | null;
            /**
             * @description The id of the data plane.
             * @example dp-7f9c-1
             */
            id: string;
            /**
             * @description The requests in flight at its last heartbeat.
             * @example 12
             */
            in_flight: number;
            /**
             * @description The first error of its environments. null: there is none.
             * @example null
             */
            last_error: string | null;
            /**
             * Format: date-time
             * @description When its last heartbeat arrived.
             * @example 2026-03-01T09:30:00.000Z
             */
            last_seen_at: string;
            /**
             * @description Its region.
             * @example eu-west
             */
            region: string;
            /**
             * @description The milliseconds that the clock of NATS is ahead of its own. null: not known.
             * @example 0
             */
            server_ahead_ms: number | null;
            /**
             * @description Whether it missed three heartbeats. Then it is not live.
             * @example false
             */
            stale: boolean;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-03-01T09:30:00.000Z
             */
            started_at: string;
        };
        /** @description A page of a list. */
        DataPlanePage: {
            /** @description The items of this page. */
            data: components["schemas"]["DataPlane"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /**
         * @description A route by its name. A setting that is left out gets its default.
         * @example {
         *       "name": "charges",
         *       "service": "payments",
         *       "timeout_ms": 5000
         *     }
         */
        DeclaredRoute: {
            /**
             * @description Which requests are logged. Every request has a record.
             * @default {}
             */
            access_log?: {
                /**
                 * @description Whether requests have a line in the log of their data plane.
                 * @default true
                 * @example true
                 */
                enabled?: boolean;
                /**
                 * @description The share of the requests that have a line. Those that failed because of the upstream always have one.
                 * @default 1
                 * @example 0.1
                 */
                sample_ratio?: number;
            };
            /**
             * @description Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.
             * @default false
             * @example false
             */
            allow_encoded_control_characters?: boolean;
            /**
             * @description How callers authenticate.
             * @default {
             *       "type": "token"
             *     }
             * @example {
             *       "type": "token"
             *     }
             */
            auth?: {
                /**
                 * @description A token with the scope `proxy`, in `Authorization: Bearer` or as the password of `Authorization: Basic`.
                 * @constant
                 */
                type: "token";
            } | {
                /**
                 * @description A token with the scope `proxy`, in `X-API-Key`.
                 * @constant
                 */
                type: "api_key";
            } | {
                /**
                 * @description Anybody may call the route.
                 * @constant
                 */
                type: "none";
            } | {
                /**
                 * @description The signature algorithms that are accepted. `EdDSA` and `Ed25519` are two names of one algorithm: either accepts both.
                 * @default [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 * @example [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 */
                algorithms?: ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519")[];
                /**
                 * @description The claim `aud` must name one of these.
                 * @example payments
                 */
                audience: string | string[];
                /**
                 * @description The claim `iss` must have this value.
                 * @example https://login.example
                 */
                issuer: string;
                /**
                 * @description Where data planes fetch the keys of the issuer.
                 * @example https://login.example/.well-known/jwks.json
                 */
                jwks_url: string;
                /**
                 * @description The claims that the JWT must have, and the values that each may have. A claim in a list of names may have any value.
                 * @example {
                 *       "role": [
                 *         "admin",
                 *         "billing"
                 *       ]
                 *     }
                 */
                required_claims?: string[] | {
                    [key: string]: (string | number | boolean) | (string | number | boolean)[];
                };
                /**
                 * @description A JWT of an issuer, in `Authorization: Bearer`.
                 * @constant
                 */
                type: "jwt";
            };
            /**
             * @description How `Idempotency-Key` is handled.
             * @default {}
             */
            idempotency?: {
                /**
                 * @description Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.
                 * @default store
                 * @example store
                 * @enum {string}
                 */
                mode?: "store" | "off";
                /**
                 * @description What happens if the outcome of the first request with a key is unknown: refuse the next one with 409, or forward it.
                 * @default refuse
                 * @example refuse
                 * @enum {string}
                 */
                on_unknown?: "refuse" | "forward";
                /**
                 * @description The statuses with which the upstream says that it has not carried out the request: of 408, 409, 423, 425, 429, 503. After one of them the same request runs again, instead of getting the stored response.
                 * @default [
                 *       425,
                 *       429
                 *     ]
                 * @example [
                 *       425,
                 *       429,
                 *       503
                 *     ]
                 */
                repeatable_statuses?: number[];
                /**
                 * @description Whether a request without `Idempotency-Key` is refused with 400.
                 * @default false
                 * @example false
                 */
                required?: boolean;
            };
            /**
             * @description Requests with a larger body are refused with 413.
             * @default 10485760
             * @example 10485760
             */
            max_body_bytes?: number;
            /**
             * @description The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not `CONNECT` or `TRACE`. null: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
             * @default null
             * @example [
             *       "GET",
             *       "POST"
             *     ]
             */
            methods?: string[] | null;
            /**
             * @description The name of the route, unique in its environment. It is a part of the path `/v1/proxy/{name}`.
             * @example charges
             */
            name: string;
            /**
             * @description The quota of the route. Requests beyond it are answered with 429.
             * @default {}
             */
            rate_limit?: {
                /**
                 * @description The requests that are allowed in a window, on all data planes together.
                 * @default 60000
                 * @example 1000
                 */
                limit?: number;
                /**
                 * @description What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up: grant what is kept back for it, or answer 503.
                 * @default share
                 * @example share
                 * @enum {string}
                 */
                on_store_unavailable?: "share" | "refuse";
                /**
                 * @description What has a quota of its own: the route, each token, or each client address.
                 * @default route
                 * @example token
                 * @enum {string}
                 */
                per?: "route" | "token" | "ip";
                /**
                 * @description The length of a window. Windows are aligned to the clock.
                 * @default 60
                 * @example 60
                 */
                window_seconds?: number;
            };
            /**
             * @description The regions to use, in this order, when a data plane has no healthy upstream in its own region.
             * @default []
             * @example [
             *       "eu-west",
             *       "us-east"
             *     ]
             */
            regions?: string[];
            /**
             * @description When a request is sent again.
             * @default {}
             */
            retry?: {
                /**
                 * @description The longest wait before the first retry. It doubles with each retry.
                 * @default 25
                 * @example 25
                 */
                backoff_ms?: number;
                /**
                 * @description The statuses of an upstream after which the request is sent again: 429, or 500 to 599.
                 * @default [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 * @example [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 */
                on_statuses?: number[];
                /**
                 * @description The milliseconds that one attempt may take. null: all that is left of `timeout_ms`.
                 * @default null
                 * @example 2000
                 */
                per_attempt_timeout_ms?: number | null;
                /**
                 * @description Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`.
                 * @default never
                 * @example never
                 * @enum {string}
                 */
                unsafe_methods?: "never" | "with_idempotency_key" | "always";
            };
            /**
             * @description The largest number of retries of a request.
             * @default 2
             * @example 2
             */
            retry_count?: number;
            /**
             * @description The name of the service that handles the requests.
             * @example payments
             */
            service?: string | null;
            /**
             * @description Requests to a `disabled` route are answered with 404.
             * @default active
             * @example active
             * @enum {string}
             */
            status?: "active" | "disabled";
            /**
             * @description The milliseconds until the response must begin, retries included.
             * @default 10000
             * @example 10000
             */
            timeout_ms?: number;
            /**
             * @description The services that share the requests, with their weights.
             * @example [
             *       {
             *         "name": "stable",
             *         "service": "payments",
             *         "weight": 100
             *       }
             *     ]
             */
            versions?: {
                /**
                 * @description The name of the version. A caller selects it with `X-Gateway-Version`.
                 * @example canary
                 */
                name: string;
                /**
                 * @description The name of the service that handles requests to this version.
                 * @example payments
                 */
                service: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests. 0: only `X-Gateway-Version` selects it.
                 * @example 10
                 */
                weight: number;
            }[] | null;
        } | unknown | unknown;
        /**
         * @description A service by its name. A setting that is left out gets its default.
         * @example {
         *       "name": "payments",
         *       "url": "https://payments.internal:8443"
         *     }
         */
        DeclaredService: {
            /**
             * @description What the gateway sends to authenticate at upstreams. It is stored encrypted, and no response shows it. null removes it.
             * @example {
             *       "type": "bearer",
             *       "token": "sk_live_4eC39H"
             *     }
             */
            credential?: ({
                /**
                 * @description The token to send.
                 * @example sk_live_4eC39H
                 */
                token: string;
                /**
                 * @description Sends `Authorization: Bearer`.
                 * @constant
                 */
                type: "bearer";
            } | {
                /**
                 * @description The password.
                 * @example s3cret
                 */
                password: string;
                /**
                 * @description Sends `Authorization: Basic`.
                 * @constant
                 */
                type: "basic";
                /**
                 * @description The user name.
                 * @example gateway
                 */
                username: string;
            } | {
                /**
                 * @description The name of the header.
                 * @example X-API-Key
                 */
                name: string;
                /**
                 * @description Sends a header of any name.
                 * @constant
                 */
                type: "header";
                /**
                 * @description The value to send. In Authorization its scheme must not be one that authenticates a connection, such as Negotiate or NTLM.
                 * @example k-4eC39H
                 */
                value: string;
            }) | null;
            /**
             * @description How data planes check whether an upstream is healthy.
             * @default {}
             */
            health_check?: {
                /**
                 * @description After this many successful checks in a row an upstream is healthy.
                 * @default 2
                 * @example 2
                 */
                healthy_threshold?: number;
                /**
                 * @description The milliseconds from one check of an upstream to the next.
                 * @default 5000
                 * @example 5000
                 */
                interval_ms?: number;
                /**
                 * @description The path that is requested. null: that of `health_path`.
                 * @default null
                 * @example /healthz
                 */
                path?: string | null;
                /**
                 * @description The milliseconds that a check may take, at most `interval_ms`. Default: 2000, or `interval_ms` if that is less.
                 * @example 2000
                 */
                timeout_ms?: number;
                /**
                 * @description After this many failed checks in a row an upstream is unhealthy.
                 * @default 3
                 * @example 3
                 */
                unhealthy_threshold?: number;
            };
            /**
             * @description The path of the health check at each upstream. A status from 200 to 299 is healthy.
             * @default /healthz
             * @example /healthz
             */
            health_path?: string;
            /**
             * @description The limits of the service in each data plane. They keep a slow service from using up what the others need.
             * @default {}
             */
            limits?: {
                /**
                 * @description Whether each data plane lowers the limit of requests while latency rises.
                 * @default false
                 * @example false
                 */
                adaptive?: boolean;
                /**
                 * @description Connections of each data plane to each upstream. null, or more than MAX_UPSTREAM_CONNECTIONS of the data plane: that setting.
                 * @default null
                 * @example 64
                 */
                max_connections?: number | null;
                /**
                 * @description Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.
                 * @default null
                 * @example 200
                 */
                max_in_flight?: number | null;
                /**
                 * @description Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.
                 * @default null
                 * @example 100
                 */
                max_pending?: number | null;
            };
            /**
             * @description The name of the service, unique in its environment.
             * @example payments
             */
            name: string;
            /**
             * @description Whether the gateway names itself in `Via` to the upstreams. Some servers, such as nginx, do not compress responses to requests with `Via`.
             * @default false
             * @example false
             */
            send_via?: boolean;
            /** @description TLS to upstreams with https. null: the defaults of the gateway. */
            tls?: {
                /**
                 * @description The only roots that are trusted, in place of those of the gateway.
                 * @example -----BEGIN CERTIFICATE-----
                 *     MIIB…
                 *     -----END CERTIFICATE-----
                 */
                ca_pem?: string | null;
                /** @description The certificate of the gateway for mutual TLS. null: none. */
                client_certificate?: {
                    /**
                     * @description The certificate that the gateway shows to upstreams, with its chain.
                     * @example -----BEGIN CERTIFICATE-----
                     *     MIIB…
                     *     -----END CERTIFICATE-----
                     */
                    cert_pem: string;
                    /**
                     * @description The private key of the certificate. No response shows it.
                     * @example -----BEGIN PRIVATE KEY-----
                     *     MIGH…
                     *     -----END PRIVATE KEY-----
                     */
                    key_pem: string;
                } | null;
                /**
                 * @description Sent as SNI, and expected in the certificate, in place of the host.
                 * @example payments.example
                 */
                server_name?: string | null;
            } | null;
            /** @description The addresses of the service. Requests are divided between the healthy ones. */
            upstreams?: {
                /**
                 * @description Where the upstream is. Data planes prefer upstreams of their own region. null: no region.
                 * @default null
                 * @example eu-west
                 */
                region?: string | null;
                /**
                 * @description The address of the upstream. The rest of the proxy path is appended to it.
                 * @example https://payments.internal:8443
                 */
                url: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests.
                 * @default 1
                 * @example 1
                 */
                weight?: number;
            }[];
            /**
             * @description The URL of the first upstream. In a body it is short for `upstreams` with one item.
             * @example https://payments.internal:8443
             */
            url?: string;
        } | unknown | unknown;
        /** @description An environment. */
        Environment: {
            /**
             * @description The newest published version of its configuration.
             * @example 42
             */
            config_version: number;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The id of the environment. One that is created under the name of a deleted one has another id.
             * @example env_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * @description The name of the environment.
             * @example production
             */
            name: string;
        };
        /**
         * @description The services and routes of an environment, by name.
         * @example {
         *       "services": [
         *         {
         *           "name": "payments",
         *           "url": "https://payments.internal:8443"
         *         }
         *       ],
         *       "routes": [
         *         {
         *           "name": "charges",
         *           "service": "payments",
         *           "timeout_ms": 5000
         *         }
         *       ]
         *     }
         */
        EnvironmentApply: {
            /**
             * @description Whether only the difference is shown and nothing is changed.
             * @default false
             * @example false
             */
            dry_run?: boolean;
            /**
             * @description The environment in the path. An export has it.
             * @example production
             */
            environment?: string;
            /**
             * @description The version of the configuration that the document is based on. If another one is the newest, or if changes wait to be published, nothing is changed and the answer is 412. 0: no version is published yet.
             * @example 42
             */
            if_version?: number;
            /**
             * @description Whether services and routes that the document does not have are deleted. A kind that is left out is not pruned.
             * @default false
             * @example false
             */
            prune?: boolean;
            /** @description The routes. If it is left out, routes are not changed. */
            routes?: components["schemas"]["DeclaredRoute"][];
            /** @description The services. If it is left out, services are not changed. */
            services?: components["schemas"]["DeclaredService"][];
        };
        /**
         * @description A new environment.
         * @example {
         *       "name": "staging"
         *     }
         */
        EnvironmentCreate: {
            /**
             * @description The name of the environment.
             * @example staging
             */
            name: string;
        };
        /** @description The services and routes of an environment as apply takes them. Secrets are references such as `${PAYMENTS_TOKEN}`. */
        EnvironmentExport: {
            /**
             * @description The name of the environment.
             * @example production
             */
            environment: string;
            /**
             * @description The routes, by name, without settings that have their defaults.
             * @example [
             *       {
             *         "name": "charges",
             *         "service": "payments",
             *         "timeout_ms": 5000
             *       }
             *     ]
             */
            routes: {
                [key: string]: unknown;
            }[];
            /**
             * @description The services, by name, without settings that have their defaults.
             * @example [
             *       {
             *         "name": "payments",
             *         "url": "https://payments.internal:8443"
             *       }
             *     ]
             */
            services: {
                [key: string]: unknown;
            }[];
        };
        /** @description A page of a list. */
        EnvironmentPage: {
            /** @description The items of this page. */
            data: components["schemas"]["Environment"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /**
         * @description The version to restore.
         * @example {
         *       "version": 41
         *     }
         */
        EnvironmentRollback: {
            /**
             * @description Shows what would change, and changes nothing. It needs the same rights.
             * @default false
             * @example false
             */
            dry_run?: boolean;
            /**
             * @description The version to restore.
             * @example 41
             */
            version: number;
        };
        /** @description The body of every error. */
        Error: {
            /** @description What went wrong. */
            error: {
                /**
                 * @description What went wrong. A code keeps its meaning; new codes may be added.
                 * @example invalid_request
                 * @enum {string}
                 */
                code: "invalid_request" | "authentication_failed" | "route_not_found" | "service_not_found" | "token_not_found" | "environment_not_found" | "request_not_found" | "config_version_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "response_timeout" | "idempotency_conflict" | "idempotency_in_progress" | "idempotency_outcome_unknown" | "idempotency_secret_gone" | "name_conflict" | "service_in_use" | "in_use" | "environment_in_use" | "config_version_not_restorable" | "precondition_failed" | "payload_too_large" | "uri_too_long" | "header_fields_too_large" | "unsupported_media_type" | "rate_limit_exceeded" | "internal_error" | "not_implemented" | "resource_unreadable" | "upstream_unavailable" | "upstream_overloaded" | "gateway_overloaded" | "gateway_not_ready" | "gateway_stopping" | "route_unusable" | "data_plane_unavailable" | "idempotency_unavailable" | "quota_unavailable" | "upstream_timeout" | "http_version_not_supported";
                /** @description Each invalid field, at most 50. */
                details?: {
                    /**
                     * @description The rule that the value breaks.
                     * @example must be a whole number from 1 to 300000
                     */
                    message: string;
                    /**
                     * @description The field, such as `retry.backoff_ms`. Empty: the whole body.
                     * @example timeout_ms
                     */
                    path: string;
                }[];
                /**
                 * @description What went wrong, for people. The text may change.
                 * @example The request is not valid: timeout_ms: must be a whole number from 1 to 300000.
                 */
                message: string;
                /**
                 * @description The id of the request, as in the header `X-Request-Id`.
                 * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                request_id: string;
            };
        };
        /**
         * @description A request that is asked about.
         * @example {
         *       "method": "POST",
         *       "path": "/17",
         *       "headers": {
         *         "Idempotency-Key": "order-17"
         *       },
         *       "body": "{\"amount\":1250}",
         *       "token_id": "tok_01kb5zv4x8n3m6q9r2t7w0y1z4",
         *       "client_ip": "203.0.113.7"
         *     }
         */
        ExplainQuestion: {
            /**
             * @description Whether the caller presents no credential.
             * @default false
             * @example false
             */
            anonymous?: boolean;
            /**
             * @description The body. A key is compared with the body of its first request.
             * @default null
             * @example {"amount":1250}
             */
            body?: string | null;
            /**
             * @description The address that the connection comes from. null: that of this call.
             * @default null
             * @example 203.0.113.7
             */
            client_ip?: string | null;
            /**
             * @description The id of the data plane to ask. null: a live one with the newest configuration.
             * @default null
             * @example data-plane-1
             */
            data_plane?: string | null;
            /**
             * @description The headers, by name; a value is a string or a list of strings. Host, and X-Gateway-Environment with the environment of the route, are added if they are missing; no other environment may be named. Values are not logged or stored, and are not in the answer.
             * @default {}
             * @example {
             *       "Idempotency-Key": "order-17"
             *     }
             */
            headers?: {
                [key: string]: string | string[];
            };
            /**
             * @description The method of the request.
             * @default GET
             * @example POST
             */
            method?: string;
            /**
             * @description The path after the name of the route: empty, or beginning with /.
             * @default
             * @example /orders/17
             */
            path?: string;
            /**
             * @description The query, with its question mark or without.
             * @default
             * @example currency=EUR
             */
            query?: string;
            /**
             * @description The id of the token that the caller presents, in the header that the route requires. It must cover no more than the token of the call. null: what `headers` has counts, a JWT for example.
             * @default null
             * @example tok_01kb5zv4x8n3m6q9r2t7w0y1z4
             */
            token_id?: string | null;
        };
        /** @description What would happen to a request on one data plane. */
        Explanation: {
            /** @description Who the caller is. */
            authentication: {
                /**
                 * @description Failed authentications that the address may still make in this minute.
                 * @example 600
                 */
                failures_remaining: number;
                /**
                 * @description The rule that refuses the caller, in more detail than the response to it: `no_credential`, `two_tokens`, `no_token_in_credential`, `token_unknown`, `token_in_other_header`, `token_expired`, `jwt_of_other_issuer`, `jwt_not_verified`, `jwt_not_checked`, `jwt_refused`, `scope_missing`, `environment_not_covered` or `route_not_covered`.
                 * @example token_expired
                 */
                refused_by: string | null;
                /**
                 * @description The token that was found.
                 * @example tok_01kb5zv4x8n3m6q9r2t7w0y1z4
                 */
                token_id: string | null;
                /**
                 * @description `auth.type` of the route. null: there is no such route.
                 * @example token
                 */
                type: string | null;
            };
            /**
             * @description The configuration version of the environment that it serves.
             * @example 42
             */
            config_version: number | null;
            /**
             * @description The data plane that was asked.
             * @example data-plane-1
             */
            data_plane: string;
            /**
             * @description The environment of the request. null: the data plane serves no such.
             * @example production
             */
            environment: string | null;
            /** @description The idempotency key. null: it is not looked at. */
            idempotency: {
                /**
                 * @description The request that has claimed the key.
                 * @example req_01kb5zv4x8n3m6q9r2t7w0y1z4
                 */
                first_request_id: string | null;
                /**
                 * @description The state of the key. `in_flight`: its first request has not ended. `repeatable`: the same request runs again, because the last one was answered with a status of `idempotency.repeatable_statuses`. `unavailable`: the store of keys cannot be reached. `passed_on`: the route leaves keys to the upstream.
                 * @example stored
                 * @enum {string}
                 */
                state: "no_key" | "free" | "repeatable" | "in_flight" | "stored" | "conflict" | "outcome_unknown" | "response_unreadable" | "unavailable" | "passed_on";
            } | null;
            /** @description How the request ends. */
            outcome: {
                /**
                 * @description The error code of a refusal.
                 * @example rate_limit_exceeded
                 */
                code: string | null;
                /**
                 * @description How the request ends. `answer`: the gateway answers itself. `wait`: the request waits for something whose end is not known.
                 * @example refuse
                 * @enum {string}
                 */
                decision: "answer" | "refuse" | "wait" | "forward";
                /**
                 * @description For a refusal: the message that the caller would get.
                 * @example The quota of the route orders is used up: 60000 requests in 60 seconds.
                 */
                reason: string;
                /**
                 * @description `Retry-After` of a refusal.
                 * @example 17
                 */
                retry_after_seconds: number | null;
                /**
                 * @description The stage that decides.
                 * @example quota
                 * @enum {string}
                 */
                stage: "admit" | "resolve_route" | "authenticate" | "authorize" | "pick_version" | "require_credential" | "bulkhead" | "quota" | "max_forwards" | "idempotency" | "forward";
                /**
                 * @description The status of the response. null: the upstream or another request decides it.
                 * @example 429
                 */
                status: number | null;
            };
            /** @description The quota. null: the request does not reach it. */
            quota: {
                /**
                 * @description Granted or leased to all data planes in the window. null: not known, because NATS is away.
                 * @example 1200
                 */
                granted: number | null;
                /**
                 * @description Leased by this data plane and not used.
                 * @example 180
                 */
                leased: number;
                /**
                 * @description Requests in each window.
                 * @example 60000
                 */
                limit: number;
                /**
                 * @description What has a quota of its own.
                 * @example route
                 * @enum {string}
                 */
                per: "route" | "token" | "ip";
                /**
                 * @description What the response would show in `X-RateLimit-Remaining`.
                 * @example 58979
                 */
                remaining: number;
                /**
                 * @description Seconds until the window ends.
                 * @example 17
                 */
                reset_seconds: number;
                /**
                 * @description The length of a window.
                 * @example 60
                 */
                window_seconds: number;
            } | null;
            /**
             * @description Its region.
             * @example eu-west
             */
            region: string;
            /**
             * @description The names of the headers that the upstream would get, in alphabetical order. null: nothing is sent.
             * @example [
             *       "cdn-loop",
             *       "host",
             *       "traceparent"
             *     ]
             */
            request_headers: string[] | null;
            /**
             * @description When the request is repeated. null: nothing is sent.
             * @example No retries: retry_count is 0.
             */
            retry_policy: string | null;
            /**
             * @description The route that the request reaches. null: none.
             * @example rte_01kb5zv4x8n3m6q9r2t7w0y1z4
             */
            route_id: string | null;
            /** @description What each stage decides, in the order in which they run. */
            stages: {
                /**
                 * @description What the stage does. `answer`: the gateway answers itself. `wait`: the request waits for something whose end is not known. `not_reached`: an earlier stage ends the request.
                 * @example continue
                 * @enum {string}
                 */
                decision: "continue" | "answer" | "refuse" | "wait" | "forward" | "not_reached";
                /**
                 * @description The stage.
                 * @example authenticate
                 * @enum {string}
                 */
                name: "admit" | "resolve_route" | "authenticate" | "authorize" | "pick_version" | "require_credential" | "bulkhead" | "quota" | "max_forwards" | "idempotency" | "forward";
                /**
                 * @description Why.
                 * @example The token tok_01kb5zv4x8n3m6q9r2t7w0y1z4 is valid, and comes in Authorization.
                 */
                reason: string;
            }[];
            /** @description The timeouts. null: the request reaches no route. */
            timeouts: {
                /**
                 * @description How long a body may make no progress.
                 * @example 60000
                 */
                body_idle_timeout_ms: number;
                /**
                 * @description For a new connection.
                 * @example 2000
                 */
                connect_timeout_ms: number;
                /**
                 * @description The deadline of one attempt. null: an attempt may take all the time left.
                 * @example 2000
                 */
                per_attempt_timeout_ms: number | null;
                /**
                 * @description The deadline for the head of the response, retries included.
                 * @example 10000
                 */
                timeout_ms: number;
            } | null;
            /** @description The upstreams for the first attempt, the best first. null: nothing is sent. */
            upstreams: {
                /**
                 * @description Its health, as this data plane sees it.
                 * @example healthy
                 * @enum {string}
                 */
                health: "unknown" | "healthy" | "unhealthy" | "ejected" | "half_open";
                /**
                 * @description The id of the upstream.
                 * @example ups_01kb5zv4x8n3m6q9r2t7w0y1z4
                 */
                id: string;
                /**
                 * @description Requests of this data plane in flight at it.
                 * @example 3
                 */
                in_flight: number;
                /**
                 * @description Whether the first attempt may go to it.
                 * @example true
                 */
                picked_first: boolean;
                /**
                 * @description Why it is or is not picked first.
                 * @example Healthy, in the region eu-west of this data plane. Picked first.
                 */
                reason: string;
                /**
                 * @description Its region. null: it counts as the region of every data plane.
                 * @example eu-west
                 */
                region: string | null;
                /**
                 * @description Its URL.
                 * @example https://orders.internal
                 */
                url: string;
                /**
                 * @description Its weight now. It rises in slow start.
                 * @example 1
                 */
                weight: number;
            }[] | null;
            /** @description The version of the route that is chosen. null: the request does not reach one. */
            version: {
                /**
                 * @description The version of the route. null: the route names a service.
                 * @example v2
                 */
                name: string | null;
                /**
                 * @description The name of that service.
                 * @example orders
                 */
                service: string;
                /**
                 * @description The service of the version.
                 * @example svc_01kb5zv4x8n3m6q9r2t7w0y1z4
                 */
                service_id: string;
            } | null;
        };
        /** @description What the gateway did with one request. It has no header value, no body and no query value. */
        RequestRecord: {
            /** @description Each attempt, in order. */
            attempts: {
                /**
                 * @description The milliseconds that it took.
                 * @example 38.4
                 */
                duration_ms: number;
                /**
                 * @description Why there was no usable status, such as `connect_refused`, `attempt_timeout` or `reset`. Some are faults of the gateway or of the caller, such as `max_connections` or `cancelled`; these do not count against the upstream.
                 * @example connect_refused
                 */
                error?: string;
                /**
                 * @description Its region. null: none.
                 * @example eu-west
                 */
                region: string | null;
                /** @description What followed. Absent after a status below 400, and in records of gateways before it existed. */
                retry?: {
                    /**
                     * @description Whether another attempt followed.
                     * @example true
                     */
                    retried: boolean;
                    /**
                     * @description Why: `nothing_sent`, `method_idempotent`, `idempotency_key` or `unsafe_methods_always` if it was retried; `status_not_retried`, `retry_count_used_up`, `method_not_idempotent`, `body_not_kept`, `budget_used_up`, `deadline`, `caller_left`, `response_ended`, `caller_failure`, `key_lease_ended` or `service_overloaded` if not. More values may be added.
                     * @example nothing_sent
                     */
                    why: string;
                };
                /**
                 * @description The milliseconds from the arrival of the request to the start of the attempt.
                 * @example 1.2
                 */
                started_ms: number;
                /**
                 * @description The status of the response.
                 * @example 201
                 */
                status?: number;
                /**
                 * @description The id of the upstream.
                 * @example ups_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                upstream: string;
            }[];
            /**
             * @description The registered caller. null: none.
             * @example null
             */
            caller_id: string | null;
            /**
             * @description The claims `iss` and `aud` of that JWT, and those that the route requires.
             * @example null
             */
            claims: {
                [key: string]: string | number | boolean | string[];
            } | null;
            /**
             * @description The address of the caller.
             * @example 203.0.113.7
             */
            client_ip: string;
            /**
             * @description The `X-Request-Id` that the caller sent. null: none.
             * @example null
             */
            client_request_id: string | null;
            /**
             * @description The version of the configuration that it used. null: none was loaded.
             * @example 42
             */
            config_version: number | null;
            /**
             * @description The id of the data plane that served the request.
             * @example dp-7f9c-1
             */
            data_plane: string;
            /**
             * @description The environment. null: the request was refused before it was known.
             * @example production
             */
            environment: string | null;
            /**
             * @description The code of the error that the gateway answered, or for which it ended the response. null: there is none.
             * @example null
             */
            error_code: string | null;
            /**
             * @description The stage that refused the request with that error, or in which it was ended, with the name that an explanation gives it. `forward`: the request was to be sent. null: there is no error, or the record is of a gateway before this field existed.
             * @example null
             */
            error_stage: string | null;
            /**
             * Format: date-time
             * @description When the record expires. It cannot be read afterwards.
             * @example 2026-03-01T09:30:00.000Z
             */
            expires_at: string;
            /**
             * @description The names of the header fields of the request, in lower case; the first 50. null also in the records of an older gateway.
             * @example [
             *       "host",
             *       "user-agent",
             *       "accept"
             *     ]
             */
            header_names: string[] | null;
            /**
             * @description The host and port that the caller asked for. null: none, or not a valid one. null also in the records of an older gateway.
             * @example gateway.example.com
             */
            host: string | null;
            /**
             * @description The id of the request.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * @description What the idempotency key did to this request. null: it had none.
             * @example null
             */
            idempotency: string | null;
            /**
             * @description What the record is of. `request`: a request of a caller.
             * @example request
             */
            kind: string;
            /**
             * @description The rule of the route that matched. null: the path names the route.
             * @example null
             */
            match: string | null;
            /**
             * @description The method.
             * @example POST
             */
            method: string;
            /**
             * @description How the request ended.
             * @example success
             * @enum {string}
             */
            outcome: "success" | "upstream_error" | "upstream_unavailable" | "timeout" | "rejected" | "client_aborted";
            /**
             * @description The path without the query, cut at 1024 characters.
             * @example /v1/proxy/charges
             */
            path: string;
            /** @description The quota after this request. null: none was counted. */
            rate_limit: {
                /**
                 * @description The limit of the window.
                 * @example 1000
                 */
                limit: number;
                /**
                 * @description The requests left in the window.
                 * @example 999
                 */
                remaining: number;
                /**
                 * @description The seconds until the window ends.
                 * @example 42
                 */
                reset_seconds: number;
            } | null;
            /**
             * Format: date-time
             * @description When the request arrived.
             * @example 2026-03-01T09:30:00.000Z
             */
            received_at: string;
            /**
             * @description The bytes of the request body.
             * @example 212
             */
            request_bytes: number;
            /**
             * @description The Content-Length of the request. null: it announced no body, or no length. null also in the records of an older gateway.
             * @example 212
             */
            request_content_length: number | null;
            /**
             * @description The bytes of the response body.
             * @example 96
             */
            response_bytes: number;
            /**
             * @description The number of retries.
             * @example 0
             */
            retry_count: number;
            /**
             * @description The name in the path, even if no such route exists. null: the path has none.
             * @example charges
             */
            route: string | null;
            /**
             * @description The version of the route. null: it has no versions, or none was chosen.
             * @example stable
             */
            route_version: string | null;
            /**
             * @description The service. null: none was chosen.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            service_id: string | null;
            /**
             * @description The status of the response. null: the client disconnected, or the gateway ended the request, before it began.
             * @example 201
             */
            status: number | null;
            /**
             * @description The claim `sub` of the JWT of the caller. null: there was none, or it was refused.
             * @example null
             */
            subject: string | null;
            /** @description Where the time went. Each instant belongs to one of the states. */
            timing: {
                /**
                 * @description The milliseconds of the gateway's own work.
                 * @example 1.9
                 */
                gateway_ms: number;
                /**
                 * @description The milliseconds of waiting for bytes of the request body. null also in the records of an older gateway.
                 * @example 0
                 */
                receiving_ms: number | null;
                /**
                 * @description The milliseconds of waiting for the caller to take the response. null also in the records of an older gateway.
                 * @example 0.1
                 */
                sending_ms: number | null;
                /**
                 * @description The milliseconds from the arrival of the request to the end of the response: the sum of the others.
                 * @example 40.4
                 */
                total_ms: number;
                /**
                 * @description The milliseconds of waiting for the upstream, while nothing is awaited from the caller.
                 * @example 21.2
                 */
                upstream_ms: number;
                /**
                 * @description The milliseconds of waiting within the gateway: the sum of `waits`. null also in the records of an older gateway.
                 * @example 17.2
                 */
                waiting_ms: number | null;
            };
            /**
             * @description The token of the caller. null: there was none, or it was refused.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            token_id: string | null;
            /**
             * @description The trace id of the W3C trace context.
             * @example 4bf92f3577b34da6a3ce929d0e0e4736
             */
            trace_id: string;
            /**
             * @description The units that it used. null: none were counted.
             * @example null
             */
            units: number | null;
            /** @description The upstream of the last attempt. null: there was no attempt. */
            upstream: {
                /**
                 * @description The id of the upstream.
                 * @example ups_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
                /**
                 * @description Its region. null: none.
                 * @example eu-west
                 */
                region: string | null;
                /**
                 * @description Its URL.
                 * @example https://payments.internal:8443
                 */
                url: string;
            } | null;
            /**
             * @description The `X-Request-Id` of the upstream's response, cut at 128 characters. null: it sent none, or none of visible ASCII. null also in the records of an older gateway.
             * @example f058ebd6-02f7-4d3f-942e-904344e8cde5
             */
            upstream_request_id: string | null;
            /** @description What it waited for within the gateway, ms. null: nothing. null also in the records of an older gateway. */
            waits: {
                /**
                 * @description For a connection to the upstream: a free one, or a new one until it is open.
                 * @example 0
                 */
                connection_ms: number;
                /**
                 * @description For the store of idempotency keys, or another request with the same key.
                 * @example 0
                 */
                key_ms: number;
                /**
                 * @description For a part of the quota from NATS.
                 * @example 0
                 */
                quota_ms: number;
                /**
                 * @description Before a retry: the back-off, or the Retry-After of the upstream.
                 * @example 17.2
                 */
                retry_ms: number;
            } | null;
            /**
             * @description The code with which an observed policy would have refused it. null: none.
             * @example null
             */
            would_refuse: string | null;
        };
        /** @description A page of a list. */
        RequestRecordPage: {
            /** @description The items of this page. */
            data: components["schemas"]["RequestRecord"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /**
         * @description The version to restore.
         * @example {
         *       "environment": "production",
         *       "version": 41
         *     }
         */
        Rollback: {
            /**
             * @description Shows what would change, and changes nothing. It needs the same rights.
             * @default false
             * @example false
             */
            dry_run?: boolean;
            /**
             * @description The name of an environment.
             * @example production
             */
            environment: string;
            /**
             * @description The number of a version.
             * @example 41
             */
            version: number;
        };
        /** @description What a rollback has changed, or would change. */
        RollbackResult: {
            /**
             * @description Whether anything differs from that version.
             * @example true
             */
            changed: boolean;
            /** @description Each change: services, then routes, by name; at most 1000. */
            changes: {
                /**
                 * @description What happens to it.
                 * @example updated
                 * @enum {string}
                 */
                action: "created" | "updated" | "deleted";
                /**
                 * @description Of a creation: the resource with all its settings.
                 * @example null
                 */
                after: {
                    [key: string]: unknown;
                } | null;
                /**
                 * @description Of a deletion: the resource with all its settings.
                 * @example null
                 */
                before: {
                    [key: string]: unknown;
                } | null;
                /** @description Of an update: the fields that differ. */
                fields: {
                    /**
                     * @description The new value. null: none.
                     * @example 1000
                     */
                    after: unknown;
                    /**
                     * @description The old value. null: none.
                     * @example 60000
                     */
                    before: unknown;
                    /**
                     * @description The field, as a JSON pointer into the resource.
                     * @example /rate_limit/limit
                     */
                    path: string;
                    /**
                     * @description true: the secret differs. No secret is shown.
                     * @example true
                     * @constant
                     */
                    secret_changed?: true;
                }[];
                /**
                 * @description The name of the resource.
                 * @example charges
                 */
                name: string;
                /**
                 * @description The id of the resource. null: a dry run would create it.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                resource_id: string | null;
                /**
                 * @description The kind of resource.
                 * @example route
                 * @enum {string}
                 */
                resource_type: "service" | "route";
            }[];
            /**
             * @description true: nothing was changed; this is what would change.
             * @example false
             */
            dry_run: boolean;
            /**
             * @description The name of the environment.
             * @example production
             */
            environment: string;
            /**
             * @description Services and routes are as in this version.
             * @example 41
             */
            restored_version: number;
            /** @description The changes of routes. */
            routes: {
                /**
                 * @description How many are created.
                 * @example 0
                 */
                created: number;
                /**
                 * @description How many are deleted.
                 * @example 0
                 */
                deleted: number;
                /**
                 * @description How many are changed.
                 * @example 1
                 */
                updated: number;
            };
            /** @description The changes of services. */
            services: {
                /**
                 * @description How many are created.
                 * @example 0
                 */
                created: number;
                /**
                 * @description How many are deleted.
                 * @example 0
                 */
                deleted: number;
                /**
                 * @description How many are changed.
                 * @example 1
                 */
                updated: number;
            };
        };
        /** @description How requests to `/v1/proxy/{name}` are handled. */
        Route: {
            /** @description Which requests are logged. Every request has a record. */
            access_log: {
                /**
                 * @description Whether requests have a line in the log of their data plane.
                 * @example true
                 */
                enabled: boolean;
                /**
                 * @description The share of the requests that have a line. Those that failed because of the upstream always have one.
                 * @example 0.1
                 */
                sample_ratio: number;
            };
            /**
             * @description Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.
             * @example false
             */
            allow_encoded_control_characters: boolean;
            /**
             * @description How callers authenticate.
             * @example {
             *       "type": "token"
             *     }
             */
            auth: {
                /**
                 * @description A token with the scope `proxy`, in `Authorization: Bearer` or as the password of `Authorization: Basic`.
                 * @constant
                 */
                type: "token";
            } | {
                /**
                 * @description A token with the scope `proxy`, in `X-API-Key`.
                 * @constant
                 */
                type: "api_key";
            } | {
                /**
                 * @description Anybody may call the route.
                 * @constant
                 */
                type: "none";
            } | {
                /**
                 * @description The signature algorithms that are accepted. `EdDSA` and `Ed25519` are two names of one algorithm: either accepts both.
                 * @example [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 */
                algorithms: ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519")[];
                /**
                 * @description The claim `aud` must name one of these.
                 * @example payments
                 */
                audience: string | string[];
                /**
                 * @description The claim `iss` must have this value.
                 * @example https://login.example
                 */
                issuer: string;
                /**
                 * @description Where data planes fetch the keys of the issuer.
                 * @example https://login.example/.well-known/jwks.json
                 */
                jwks_url: string;
                /**
                 * @description The claims that the JWT must have, and the values that each may have. A claim in a list of names may have any value.
                 * @example {
                 *       "role": [
                 *         "admin",
                 *         "billing"
                 *       ]
                 *     }
                 */
                required_claims: string[] | {
                    [key: string]: (string | number | boolean) | (string | number | boolean)[];
                };
                /**
                 * @description A JWT of an issuer, in `Authorization: Bearer`.
                 * @constant
                 */
                type: "jwt";
            };
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The environment of the route.
             * @example production
             */
            environment: string;
            /**
             * @description The id of the route.
             * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /** @description How `Idempotency-Key` is handled. */
            idempotency: {
                /**
                 * @description Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.
                 * @example store
                 * @enum {string}
                 */
                mode: "store" | "off";
                /**
                 * @description What happens if the outcome of the first request with a key is unknown: refuse the next one with 409, or forward it.
                 * @example refuse
                 * @enum {string}
                 */
                on_unknown: "refuse" | "forward";
                /**
                 * @description The statuses with which the upstream says that it has not carried out the request: of 408, 409, 423, 425, 429, 503. After one of them the same request runs again, instead of getting the stored response.
                 * @example [
                 *       425,
                 *       429,
                 *       503
                 *     ]
                 */
                repeatable_statuses: number[];
                /**
                 * @description Whether a request without `Idempotency-Key` is refused with 400.
                 * @example false
                 */
                required: boolean;
            };
            /**
             * @description Requests with a larger body are refused with 413.
             * @example 10485760
             */
            max_body_bytes: number;
            /**
             * @description The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not `CONNECT` or `TRACE`. null: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
             * @example [
             *       "GET",
             *       "POST"
             *     ]
             */
            methods: string[] | null;
            /**
             * @description The name of the route, unique in its environment. It is a part of the path `/v1/proxy/{name}`.
             * @example charges
             */
            name: string;
            /** @description The quota of the route. Requests beyond it are answered with 429. */
            rate_limit: {
                /**
                 * @description The requests that are allowed in a window, on all data planes together.
                 * @example 1000
                 */
                limit: number;
                /**
                 * @description What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up: grant what is kept back for it, or answer 503.
                 * @example share
                 * @enum {string}
                 */
                on_store_unavailable: "share" | "refuse";
                /**
                 * @description What has a quota of its own: the route, each token, or each client address.
                 * @example token
                 * @enum {string}
                 */
                per: "route" | "token" | "ip";
                /**
                 * @description The length of a window. Windows are aligned to the clock.
                 * @example 60
                 */
                window_seconds: number;
            };
            /**
             * @description The regions to use, in this order, when a data plane has no healthy upstream in its own region.
             * @example [
             *       "eu-west",
             *       "us-east"
             *     ]
             */
            regions: string[];
            /** @description When a request is sent again. */
            retry: {
                /**
                 * @description The longest wait before the first retry. It doubles with each retry.
                 * @example 25
                 */
                backoff_ms: number;
                /**
                 * @description The statuses of an upstream after which the request is sent again: 429, or 500 to 599.
                 * @example [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 */
                on_statuses: number[];
                /**
                 * @description The milliseconds that one attempt may take. null: all that is left of `timeout_ms`.
                 * @example 2000
                 */
                per_attempt_timeout_ms: number | null;
                /**
                 * @description Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`.
                 * @example never
                 * @enum {string}
                 */
                unsafe_methods: "never" | "with_idempotency_key" | "always";
            };
            /**
             * @description The largest number of retries of a request.
             * @example 2
             */
            retry_count: number;
            /**
             * @description The revision. It rises with each change and is a part of the ETag.
             * @example 3
             */
            revision: number;
            /**
             * @description The service that handles the requests. null: `versions` names services.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            service_id: string | null;
            /**
             * @description Requests to a `disabled` route are answered with 404.
             * @example active
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * @description The milliseconds until the response must begin, retries included.
             * @example 10000
             */
            timeout_ms: number;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description The services that share the requests, with their weights. null: `service_id` names the only one.
             * @example null
             * @example [
             *       {
             *         "name": "stable",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
             *         "weight": 90
             *       },
             *       {
             *         "name": "canary",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0y",
             *         "weight": 10
             *       }
             *     ]
             */
            versions: {
                /**
                 * @description The name of the version. A caller selects it with `X-Gateway-Version`.
                 * @example canary
                 */
                name: string;
                /**
                 * @description The service that handles requests to this version.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                service_id: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests. 0: only `X-Gateway-Version` selects it.
                 * @example 10
                 */
                weight: number;
            }[] | null;
        };
        /**
         * @description A new route. It has either `service_id` or `versions`.
         * @example {
         *       "name": "charges",
         *       "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
         *       "timeout_ms": 5000,
         *       "retry_count": 1
         *     }
         */
        RouteCreate: {
            /**
             * @description Which requests are logged. Every request has a record.
             * @default {}
             */
            access_log?: {
                /**
                 * @description Whether requests have a line in the log of their data plane.
                 * @default true
                 * @example true
                 */
                enabled?: boolean;
                /**
                 * @description The share of the requests that have a line. Those that failed because of the upstream always have one.
                 * @default 1
                 * @example 0.1
                 */
                sample_ratio?: number;
            };
            /**
             * @description Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.
             * @default false
             * @example false
             */
            allow_encoded_control_characters?: boolean;
            /**
             * @description How callers authenticate.
             * @default {
             *       "type": "token"
             *     }
             * @example {
             *       "type": "token"
             *     }
             */
            auth?: {
                /**
                 * @description A token with the scope `proxy`, in `Authorization: Bearer` or as the password of `Authorization: Basic`.
                 * @constant
                 */
                type: "token";
            } | {
                /**
                 * @description A token with the scope `proxy`, in `X-API-Key`.
                 * @constant
                 */
                type: "api_key";
            } | {
                /**
                 * @description Anybody may call the route.
                 * @constant
                 */
                type: "none";
            } | {
                /**
                 * @description The signature algorithms that are accepted. `EdDSA` and `Ed25519` are two names of one algorithm: either accepts both.
                 * @default [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 * @example [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 */
                algorithms?: ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519")[];
                /**
                 * @description The claim `aud` must name one of these.
                 * @example payments
                 */
                audience: string | string[];
                /**
                 * @description The claim `iss` must have this value.
                 * @example https://login.example
                 */
                issuer: string;
                /**
                 * @description Where data planes fetch the keys of the issuer.
                 * @example https://login.example/.well-known/jwks.json
                 */
                jwks_url: string;
                /**
                 * @description The claims that the JWT must have, and the values that each may have. A claim in a list of names may have any value.
                 * @example {
                 *       "role": [
                 *         "admin",
                 *         "billing"
                 *       ]
                 *     }
                 */
                required_claims?: string[] | {
                    [key: string]: (string | number | boolean) | (string | number | boolean)[];
                };
                /**
                 * @description A JWT of an issuer, in `Authorization: Bearer`.
                 * @constant
                 */
                type: "jwt";
            };
            /**
             * @description How `Idempotency-Key` is handled.
             * @default {}
             */
            idempotency?: {
                /**
                 * @description Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.
                 * @default store
                 * @example store
                 * @enum {string}
                 */
                mode?: "store" | "off";
                /**
                 * @description What happens if the outcome of the first request with a key is unknown: refuse the next one with 409, or forward it.
                 * @default refuse
                 * @example refuse
                 * @enum {string}
                 */
                on_unknown?: "refuse" | "forward";
                /**
                 * @description The statuses with which the upstream says that it has not carried out the request: of 408, 409, 423, 425, 429, 503. After one of them the same request runs again, instead of getting the stored response.
                 * @default [
                 *       425,
                 *       429
                 *     ]
                 * @example [
                 *       425,
                 *       429,
                 *       503
                 *     ]
                 */
                repeatable_statuses?: number[];
                /**
                 * @description Whether a request without `Idempotency-Key` is refused with 400.
                 * @default false
                 * @example false
                 */
                required?: boolean;
            };
            /**
             * @description Requests with a larger body are refused with 413.
             * @default 10485760
             * @example 10485760
             */
            max_body_bytes?: number;
            /**
             * @description The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not `CONNECT` or `TRACE`. null: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
             * @default null
             * @example [
             *       "GET",
             *       "POST"
             *     ]
             */
            methods?: string[] | null;
            /**
             * @description The name of the route, unique in its environment. It is a part of the path `/v1/proxy/{name}`.
             * @example charges
             */
            name: string;
            /**
             * @description The quota of the route. Requests beyond it are answered with 429.
             * @default {}
             */
            rate_limit?: {
                /**
                 * @description The requests that are allowed in a window, on all data planes together.
                 * @default 60000
                 * @example 1000
                 */
                limit?: number;
                /**
                 * @description What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up: grant what is kept back for it, or answer 503.
                 * @default share
                 * @example share
                 * @enum {string}
                 */
                on_store_unavailable?: "share" | "refuse";
                /**
                 * @description What has a quota of its own: the route, each token, or each client address.
                 * @default route
                 * @example token
                 * @enum {string}
                 */
                per?: "route" | "token" | "ip";
                /**
                 * @description The length of a window. Windows are aligned to the clock.
                 * @default 60
                 * @example 60
                 */
                window_seconds?: number;
            };
            /**
             * @description The regions to use, in this order, when a data plane has no healthy upstream in its own region.
             * @default []
             * @example [
             *       "eu-west",
             *       "us-east"
             *     ]
             */
            regions?: string[];
            /**
             * @description When a request is sent again.
             * @default {}
             */
            retry?: {
                /**
                 * @description The longest wait before the first retry. It doubles with each retry.
                 * @default 25
                 * @example 25
                 */
                backoff_ms?: number;
                /**
                 * @description The statuses of an upstream after which the request is sent again: 429, or 500 to 599.
                 * @default [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 * @example [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 */
                on_statuses?: number[];
                /**
                 * @description The milliseconds that one attempt may take. null: all that is left of `timeout_ms`.
                 * @default null
                 * @example 2000
                 */
                per_attempt_timeout_ms?: number | null;
                /**
                 * @description Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`.
                 * @default never
                 * @example never
                 * @enum {string}
                 */
                unsafe_methods?: "never" | "with_idempotency_key" | "always";
            };
            /**
             * @description The largest number of retries of a request.
             * @default 2
             * @example 2
             */
            retry_count?: number;
            /**
             * @description The service that handles the requests. null: `versions` names services.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            service_id?: string | null;
            /**
             * @description Requests to a `disabled` route are answered with 404.
             * @default active
             * @example active
             * @enum {string}
             */
            status?: "active" | "disabled";
            /**
             * @description The milliseconds until the response must begin, retries included.
             * @default 10000
             * @example 10000
             */
            timeout_ms?: number;
            /**
             * @description The services that share the requests, with their weights. null: `service_id` names the only one.
             * @example null
             * @example [
             *       {
             *         "name": "stable",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
             *         "weight": 90
             *       },
             *       {
             *         "name": "canary",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0y",
             *         "weight": 10
             *       }
             *     ]
             */
            versions?: {
                /**
                 * @description The name of the version. A caller selects it with `X-Gateway-Version`.
                 * @example canary
                 */
                name: string;
                /**
                 * @description The service that handles requests to this version.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                service_id: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests. 0: only `X-Gateway-Version` selects it.
                 * @example 10
                 */
                weight: number;
            }[] | null;
        } | unknown | unknown;
        /** @description A page of a list. */
        RoutePage: {
            /** @description The items of this page. */
            data: components["schemas"]["Route"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /**
         * @description All settings of a route. A setting that is left out gets its default.
         * @example {
         *       "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
         *       "timeout_ms": 5000,
         *       "retry_count": 1
         *     }
         */
        RouteReplace: {
            /**
             * @description Which requests are logged. Every request has a record.
             * @default {}
             */
            access_log?: {
                /**
                 * @description Whether requests have a line in the log of their data plane.
                 * @default true
                 * @example true
                 */
                enabled?: boolean;
                /**
                 * @description The share of the requests that have a line. Those that failed because of the upstream always have one.
                 * @default 1
                 * @example 0.1
                 */
                sample_ratio?: number;
            };
            /**
             * @description Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.
             * @default false
             * @example false
             */
            allow_encoded_control_characters?: boolean;
            /**
             * @description How callers authenticate.
             * @default {
             *       "type": "token"
             *     }
             * @example {
             *       "type": "token"
             *     }
             */
            auth?: {
                /**
                 * @description A token with the scope `proxy`, in `Authorization: Bearer` or as the password of `Authorization: Basic`.
                 * @constant
                 */
                type: "token";
            } | {
                /**
                 * @description A token with the scope `proxy`, in `X-API-Key`.
                 * @constant
                 */
                type: "api_key";
            } | {
                /**
                 * @description Anybody may call the route.
                 * @constant
                 */
                type: "none";
            } | {
                /**
                 * @description The signature algorithms that are accepted. `EdDSA` and `Ed25519` are two names of one algorithm: either accepts both.
                 * @default [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 * @example [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 */
                algorithms?: ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519")[];
                /**
                 * @description The claim `aud` must name one of these.
                 * @example payments
                 */
                audience: string | string[];
                /**
                 * @description The claim `iss` must have this value.
                 * @example https://login.example
                 */
                issuer: string;
                /**
                 * @description Where data planes fetch the keys of the issuer.
                 * @example https://login.example/.well-known/jwks.json
                 */
                jwks_url: string;
                /**
                 * @description The claims that the JWT must have, and the values that each may have. A claim in a list of names may have any value.
                 * @example {
                 *       "role": [
                 *         "admin",
                 *         "billing"
                 *       ]
                 *     }
                 */
                required_claims?: string[] | {
                    [key: string]: (string | number | boolean) | (string | number | boolean)[];
                };
                /**
                 * @description A JWT of an issuer, in `Authorization: Bearer`.
                 * @constant
                 */
                type: "jwt";
            };
            /** @description Read-only; accepted if unchanged. */
            readonly created_at?: unknown;
            /**
             * @description The environment that is in the query.
             * @example production
             */
            environment?: string;
            /** @description Read-only; accepted if unchanged. */
            readonly id?: unknown;
            /**
             * @description How `Idempotency-Key` is handled.
             * @default {}
             */
            idempotency?: {
                /**
                 * @description Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.
                 * @default store
                 * @example store
                 * @enum {string}
                 */
                mode?: "store" | "off";
                /**
                 * @description What happens if the outcome of the first request with a key is unknown: refuse the next one with 409, or forward it.
                 * @default refuse
                 * @example refuse
                 * @enum {string}
                 */
                on_unknown?: "refuse" | "forward";
                /**
                 * @description The statuses with which the upstream says that it has not carried out the request: of 408, 409, 423, 425, 429, 503. After one of them the same request runs again, instead of getting the stored response.
                 * @default [
                 *       425,
                 *       429
                 *     ]
                 * @example [
                 *       425,
                 *       429,
                 *       503
                 *     ]
                 */
                repeatable_statuses?: number[];
                /**
                 * @description Whether a request without `Idempotency-Key` is refused with 400.
                 * @default false
                 * @example false
                 */
                required?: boolean;
            };
            /**
             * @description Requests with a larger body are refused with 413.
             * @default 10485760
             * @example 10485760
             */
            max_body_bytes?: number;
            /**
             * @description The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not `CONNECT` or `TRACE`. null: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
             * @default null
             * @example [
             *       "GET",
             *       "POST"
             *     ]
             */
            methods?: string[] | null;
            /**
             * @description The name that is in the path.
             * @example charges
             */
            name?: string;
            /**
             * @description The quota of the route. Requests beyond it are answered with 429.
             * @default {}
             */
            rate_limit?: {
                /**
                 * @description The requests that are allowed in a window, on all data planes together.
                 * @default 60000
                 * @example 1000
                 */
                limit?: number;
                /**
                 * @description What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up: grant what is kept back for it, or answer 503.
                 * @default share
                 * @example share
                 * @enum {string}
                 */
                on_store_unavailable?: "share" | "refuse";
                /**
                 * @description What has a quota of its own: the route, each token, or each client address.
                 * @default route
                 * @example token
                 * @enum {string}
                 */
                per?: "route" | "token" | "ip";
                /**
                 * @description The length of a window. Windows are aligned to the clock.
                 * @default 60
                 * @example 60
                 */
                window_seconds?: number;
            };
            /**
             * @description The regions to use, in this order, when a data plane has no healthy upstream in its own region.
             * @default []
             * @example [
             *       "eu-west",
             *       "us-east"
             *     ]
             */
            regions?: string[];
            /**
             * @description When a request is sent again.
             * @default {}
             */
            retry?: {
                /**
                 * @description The longest wait before the first retry. It doubles with each retry.
                 * @default 25
                 * @example 25
                 */
                backoff_ms?: number;
                /**
                 * @description The statuses of an upstream after which the request is sent again: 429, or 500 to 599.
                 * @default [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 * @example [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 */
                on_statuses?: number[];
                /**
                 * @description The milliseconds that one attempt may take. null: all that is left of `timeout_ms`.
                 * @default null
                 * @example 2000
                 */
                per_attempt_timeout_ms?: number | null;
                /**
                 * @description Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`.
                 * @default never
                 * @example never
                 * @enum {string}
                 */
                unsafe_methods?: "never" | "with_idempotency_key" | "always";
            };
            /**
             * @description The largest number of retries of a request.
             * @default 2
             * @example 2
             */
            retry_count?: number;
            /** @description Read-only; accepted if unchanged. */
            readonly revision?: unknown;
            /**
             * @description The service that handles the requests. null: `versions` names services.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            service_id?: string | null;
            /**
             * @description Requests to a `disabled` route are answered with 404.
             * @default active
             * @example active
             * @enum {string}
             */
            status?: "active" | "disabled";
            /**
             * @description The milliseconds until the response must begin, retries included.
             * @default 10000
             * @example 10000
             */
            timeout_ms?: number;
            /** @description Read-only; accepted if unchanged. */
            readonly updated_at?: unknown;
            /**
             * @description The services that share the requests, with their weights. null: `service_id` names the only one.
             * @example null
             * @example [
             *       {
             *         "name": "stable",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
             *         "weight": 90
             *       },
             *       {
             *         "name": "canary",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0y",
             *         "weight": 10
             *       }
             *     ]
             */
            versions?: {
                /**
                 * @description The name of the version. A caller selects it with `X-Gateway-Version`.
                 * @example canary
                 */
                name: string;
                /**
                 * @description The service that handles requests to this version.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                service_id: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests. 0: only `X-Gateway-Version` selects it.
                 * @example 10
                 */
                weight: number;
            }[] | null;
        } | unknown | unknown;
        /** @description Counts and durations of requests by route. */
        RouteStatistics: {
            /**
             * Format: date-time
             * @description The begin of the period, a whole minute.
             * @example 2026-03-01T09:00:00Z
             */
            from: string;
            /** @description The routes that have requests, in the order. */
            routes: {
                /**
                 * @description The environment of the route.
                 * @example production
                 */
                environment: string | null;
                /**
                 * @description How many of them had the outcome `upstream_error`, `upstream_unavailable` or `timeout`, or a status of 500 or more.
                 * @example 3
                 */
                errors: number;
                /**
                 * @description The duration that 50 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p50_ms: number | null;
                /**
                 * @description The duration that 95 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p95_ms: number | null;
                /**
                 * @description The duration that 99 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p99_ms: number | null;
                /**
                 * @description How many requests there were.
                 * @example 1200
                 */
                requests: number;
                /**
                 * @description The name of the route.
                 * @example charges
                 */
                route: string;
            }[];
            /**
             * Format: date-time
             * @description The end of the period, a whole minute; it is not included.
             * @example 2026-03-01T10:00:00Z
             */
            to: string;
        };
        /**
         * @description The fields to change.
         * @example {
         *       "timeout_ms": 5000,
         *       "rate_limit": {
         *         "limit": 1000
         *       }
         *     }
         */
        RouteUpdate: {
            /** @description Which requests are logged. Every request has a record. */
            access_log?: {
                /**
                 * @description Whether requests have a line in the log of their data plane.
                 * @example true
                 */
                enabled?: boolean;
                /**
                 * @description The share of the requests that have a line. Those that failed because of the upstream always have one.
                 * @example 0.1
                 */
                sample_ratio?: number;
            };
            /**
             * @description Whether a path may have the encoded control characters `%09`, `%0A` and `%0D`. Others are always refused.
             * @example false
             */
            allow_encoded_control_characters?: boolean;
            /**
             * @description How callers authenticate.
             * @example {
             *       "type": "token"
             *     }
             */
            auth?: {
                /**
                 * @description A token with the scope `proxy`, in `Authorization: Bearer` or as the password of `Authorization: Basic`.
                 * @constant
                 */
                type: "token";
            } | {
                /**
                 * @description A token with the scope `proxy`, in `X-API-Key`.
                 * @constant
                 */
                type: "api_key";
            } | {
                /**
                 * @description Anybody may call the route.
                 * @constant
                 */
                type: "none";
            } | {
                /**
                 * @description The signature algorithms that are accepted. `EdDSA` and `Ed25519` are two names of one algorithm: either accepts both.
                 * @default [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 * @example [
                 *       "RS256",
                 *       "ES256"
                 *     ]
                 */
                algorithms?: ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA" | "Ed25519")[];
                /**
                 * @description The claim `aud` must name one of these.
                 * @example payments
                 */
                audience: string | string[];
                /**
                 * @description The claim `iss` must have this value.
                 * @example https://login.example
                 */
                issuer: string;
                /**
                 * @description Where data planes fetch the keys of the issuer.
                 * @example https://login.example/.well-known/jwks.json
                 */
                jwks_url: string;
                /**
                 * @description The claims that the JWT must have, and the values that each may have. A claim in a list of names may have any value.
                 * @example {
                 *       "role": [
                 *         "admin",
                 *         "billing"
                 *       ]
                 *     }
                 */
                required_claims?: string[] | {
                    [key: string]: (string | number | boolean) | (string | number | boolean)[];
                };
                /**
                 * @description A JWT of an issuer, in `Authorization: Bearer`.
                 * @constant
                 */
                type: "jwt";
            };
            /** @description Read-only; accepted if unchanged. */
            readonly created_at?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly environment?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly id?: unknown;
            /** @description How `Idempotency-Key` is handled. */
            idempotency?: {
                /**
                 * @description Who handles keys. `store`: the gateway runs a request with a key once and stores its response. `off`: the upstream alone; the gateway passes the key on and stores nothing.
                 * @example store
                 * @enum {string}
                 */
                mode?: "store" | "off";
                /**
                 * @description What happens if the outcome of the first request with a key is unknown: refuse the next one with 409, or forward it.
                 * @example refuse
                 * @enum {string}
                 */
                on_unknown?: "refuse" | "forward";
                /**
                 * @description The statuses with which the upstream says that it has not carried out the request: of 408, 409, 423, 425, 429, 503. After one of them the same request runs again, instead of getting the stored response.
                 * @example [
                 *       425,
                 *       429,
                 *       503
                 *     ]
                 */
                repeatable_statuses?: number[];
                /**
                 * @description Whether a request without `Idempotency-Key` is refused with 400.
                 * @example false
                 */
                required?: boolean;
            };
            /**
             * @description Requests with a larger body are refused with 413.
             * @example 10485760
             */
            max_body_bytes?: number;
            /**
             * @description The methods that the route accepts, in the case that callers send, such as `PROPFIND` or `QUERY`; not `CONNECT` or `TRACE`. null: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
             * @example [
             *       "GET",
             *       "POST"
             *     ]
             */
            methods?: string[] | null;
            /**
             * @description The name of the route, unique in its environment. It is a part of the path `/v1/proxy/{name}`.
             * @example charges
             */
            name?: string;
            /** @description The quota of the route. Requests beyond it are answered with 429. */
            rate_limit?: {
                /**
                 * @description The requests that are allowed in a window, on all data planes together.
                 * @example 1000
                 */
                limit?: number;
                /**
                 * @description What a data plane does while NATS is away, or stores no more callers of the route, and its lease is used up: grant what is kept back for it, or answer 503.
                 * @example share
                 * @enum {string}
                 */
                on_store_unavailable?: "share" | "refuse";
                /**
                 * @description What has a quota of its own: the route, each token, or each client address.
                 * @example token
                 * @enum {string}
                 */
                per?: "route" | "token" | "ip";
                /**
                 * @description The length of a window. Windows are aligned to the clock.
                 * @example 60
                 */
                window_seconds?: number;
            };
            /**
             * @description The regions to use, in this order, when a data plane has no healthy upstream in its own region.
             * @example [
             *       "eu-west",
             *       "us-east"
             *     ]
             */
            regions?: string[];
            /** @description When a request is sent again. */
            retry?: {
                /**
                 * @description The longest wait before the first retry. It doubles with each retry.
                 * @example 25
                 */
                backoff_ms?: number;
                /**
                 * @description The statuses of an upstream after which the request is sent again: 429, or 500 to 599.
                 * @example [
                 *       502,
                 *       503,
                 *       504
                 *     ]
                 */
                on_statuses?: number[];
                /**
                 * @description The milliseconds that one attempt may take. null: all that is left of `timeout_ms`.
                 * @example 2000
                 */
                per_attempt_timeout_ms?: number | null;
                /**
                 * @description Whether a POST or PATCH that may have reached the upstream is sent again: `never`, only with an idempotency key, or `always`.
                 * @example never
                 * @enum {string}
                 */
                unsafe_methods?: "never" | "with_idempotency_key" | "always";
            };
            /**
             * @description The largest number of retries of a request.
             * @example 2
             */
            retry_count?: number;
            /** @description Read-only; accepted if unchanged. */
            readonly revision?: unknown;
            /**
             * @description The service that handles the requests. null: `versions` names services.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            service_id?: string | null;
            /**
             * @description Requests to a `disabled` route are answered with 404.
             * @example active
             * @enum {string}
             */
            status?: "active" | "disabled";
            /**
             * @description The milliseconds until the response must begin, retries included.
             * @example 10000
             */
            timeout_ms?: number;
            /** @description Read-only; accepted if unchanged. */
            readonly updated_at?: unknown;
            /**
             * @description The services that share the requests, with their weights. null: `service_id` names the only one.
             * @example null
             * @example [
             *       {
             *         "name": "stable",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
             *         "weight": 90
             *       },
             *       {
             *         "name": "canary",
             *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0y",
             *         "weight": 10
             *       }
             *     ]
             */
            versions?: {
                /**
                 * @description The name of the version. A caller selects it with `X-Gateway-Version`.
                 * @example canary
                 */
                name: string;
                /**
                 * @description The service that handles requests to this version.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                service_id: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests. 0: only `X-Gateway-Version` selects it.
                 * @example 10
                 */
                weight: number;
            }[] | null;
        };
        /** @description An application behind the gateway. */
        Service: {
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /** @description What is known of the credential, without its secret. null: there is none. */
            credential: {
                /**
                 * @description The name of the header, in lower case.
                 * @example authorization
                 */
                header: string;
                /**
                 * Format: date-time
                 * @description When the credential was set.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                set_at: string;
                /**
                 * @description The kind of credential.
                 * @example bearer
                 * @enum {string}
                 */
                type: "bearer" | "basic" | "header";
            } | null;
            /**
             * @description The environment of the service.
             * @example production
             */
            environment: string;
            /** @description How data planes check whether an upstream is healthy. */
            health_check: {
                /**
                 * @description After this many successful checks in a row an upstream is healthy.
                 * @example 2
                 */
                healthy_threshold: number;
                /**
                 * @description The milliseconds from one check of an upstream to the next.
                 * @example 5000
                 */
                interval_ms: number;
                /**
                 * @description The path that is requested. null: that of `health_path`.
                 * @example /healthz
                 */
                path: string | null;
                /**
                 * @description The milliseconds that a check may take, at most `interval_ms`. Default: 2000, or `interval_ms` if that is less.
                 * @example 2000
                 */
                timeout_ms?: number;
                /**
                 * @description After this many failed checks in a row an upstream is unhealthy.
                 * @example 3
                 */
                unhealthy_threshold: number;
            };
            /**
             * @description The path of the health check at each upstream. A status from 200 to 299 is healthy.
             * @example /healthz
             */
            health_path: string;
            /**
             * @description The id of the service.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /** @description The limits of the service in each data plane. They keep a slow service from using up what the others need. */
            limits: {
                /**
                 * @description Whether each data plane lowers the limit of requests while latency rises.
                 * @example false
                 */
                adaptive: boolean;
                /**
                 * @description Connections of each data plane to each upstream. null, or more than MAX_UPSTREAM_CONNECTIONS of the data plane: that setting.
                 * @example 64
                 */
                max_connections: number | null;
                /**
                 * @description Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.
                 * @example 200
                 */
                max_in_flight: number | null;
                /**
                 * @description Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.
                 * @example 100
                 */
                max_pending: number | null;
            };
            /**
             * @description The name of the service, unique in its environment.
             * @example payments
             */
            name: string;
            /**
             * @description The revision. It rises with each change and is a part of the ETag.
             * @example 3
             */
            revision: number;
            /**
             * @description Whether the gateway names itself in `Via` to the upstreams. Some servers, such as nginx, do not compress responses to requests with `Via`.
             * @example false
             */
            send_via: boolean;
            /**
             * @description The health of the upstreams as the live data planes see it. `degraded`: some are unhealthy. `unknown`: no check has ended yet.
             * @example healthy
             * @enum {string}
             */
            status: "unknown" | "healthy" | "degraded" | "unhealthy";
            /** @description TLS to upstreams with https. null: the defaults of the gateway. */
            tls: {
                /**
                 * @description The only roots that are trusted, in place of those of the gateway.
                 * @example -----BEGIN CERTIFICATE-----
                 *     MIIB…
                 *     -----END CERTIFICATE-----
                 */
                ca_pem: string | null;
                /** @description The certificate of the gateway for mutual TLS. null: none. */
                client_certificate: {
                    /**
                     * @description The certificate that the gateway shows to upstreams, with its chain.
                     * @example -----BEGIN CERTIFICATE-----
                     *     MIIB…
                     *     -----END CERTIFICATE-----
                     */
                    cert_pem: string;
                    /**
                     * Format: date-time
                     * @description When the certificate was set.
                     * @example 2026-03-01T09:30:00.000Z
                     */
                    set_at: string;
                } | null;
                /**
                 * @description Sent as SNI, and expected in the certificate, in place of the host.
                 * @example payments.example
                 */
                server_name: string | null;
            } | null;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
            /** @description The addresses of the service. Requests are divided between the healthy ones. */
            upstreams: {
                /**
                 * @description Where the upstream is. Data planes prefer upstreams of their own region. null: no region.
                 * @example eu-west
                 */
                region: string | null;
                /**
                 * @description The address of the upstream. The rest of the proxy path is appended to it.
                 * @example https://payments.internal:8443
                 */
                url: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests.
                 * @example 1
                 */
                weight: number;
            }[];
            /**
             * @description The URL of the first upstream. In a body it is short for `upstreams` with one item.
             * @example https://payments.internal:8443
             */
            url: string;
        };
        /**
         * @description A new service. It has `url`, `upstreams`, or both if `url` is that of the first upstream.
         * @example {
         *       "name": "payments",
         *       "environment": "production",
         *       "url": "https://payments.internal:8443"
         *     }
         */
        ServiceCreate: {
            /**
             * @description What the gateway sends to authenticate at upstreams. It is stored encrypted, and no response shows it. null removes it.
             * @example {
             *       "type": "bearer",
             *       "token": "sk_live_4eC39H"
             *     }
             */
            credential?: ({
                /**
                 * @description The token to send.
                 * @example sk_live_4eC39H
                 */
                token: string;
                /**
                 * @description Sends `Authorization: Bearer`.
                 * @constant
                 */
                type: "bearer";
            } | {
                /**
                 * @description The password.
                 * @example s3cret
                 */
                password: string;
                /**
                 * @description Sends `Authorization: Basic`.
                 * @constant
                 */
                type: "basic";
                /**
                 * @description The user name.
                 * @example gateway
                 */
                username: string;
            } | {
                /**
                 * @description The name of the header.
                 * @example X-API-Key
                 */
                name: string;
                /**
                 * @description Sends a header of any name.
                 * @constant
                 */
                type: "header";
                /**
                 * @description The value to send. In Authorization its scheme must not be one that authenticates a connection, such as Negotiate or NTLM.
                 * @example k-4eC39H
                 */
                value: string;
            }) | null;
            /**
             * @description The environment of the service. It may be left out if the token covers only one.
             * @example production
             */
            environment?: string;
            /**
             * @description How data planes check whether an upstream is healthy.
             * @default {}
             */
            health_check?: {
                /**
                 * @description After this many successful checks in a row an upstream is healthy.
                 * @default 2
                 * @example 2
                 */
                healthy_threshold?: number;
                /**
                 * @description The milliseconds from one check of an upstream to the next.
                 * @default 5000
                 * @example 5000
                 */
                interval_ms?: number;
                /**
                 * @description The path that is requested. null: that of `health_path`.
                 * @default null
                 * @example /healthz
                 */
                path?: string | null;
                /**
                 * @description The milliseconds that a check may take, at most `interval_ms`. Default: 2000, or `interval_ms` if that is less.
                 * @example 2000
                 */
                timeout_ms?: number;
                /**
                 * @description After this many failed checks in a row an upstream is unhealthy.
                 * @default 3
                 * @example 3
                 */
                unhealthy_threshold?: number;
            };
            /**
             * @description The path of the health check at each upstream. A status from 200 to 299 is healthy.
             * @default /healthz
             * @example /healthz
             */
            health_path?: string;
            /**
             * @description The limits of the service in each data plane. They keep a slow service from using up what the others need.
             * @default {}
             */
            limits?: {
                /**
                 * @description Whether each data plane lowers the limit of requests while latency rises.
                 * @default false
                 * @example false
                 */
                adaptive?: boolean;
                /**
                 * @description Connections of each data plane to each upstream. null, or more than MAX_UPSTREAM_CONNECTIONS of the data plane: that setting.
                 * @default null
                 * @example 64
                 */
                max_connections?: number | null;
                /**
                 * @description Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.
                 * @default null
                 * @example 200
                 */
                max_in_flight?: number | null;
                /**
                 * @description Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.
                 * @default null
                 * @example 100
                 */
                max_pending?: number | null;
            };
            /**
             * @description The name of the service, unique in its environment.
             * @example payments
             */
            name: string;
            /**
             * @description Whether the gateway names itself in `Via` to the upstreams. Some servers, such as nginx, do not compress responses to requests with `Via`.
             * @default false
             * @example false
             */
            send_via?: boolean;
            /** @description TLS to upstreams with https. null: the defaults of the gateway. */
            tls?: {
                /**
                 * @description The only roots that are trusted, in place of those of the gateway.
                 * @example -----BEGIN CERTIFICATE-----
                 *     MIIB…
                 *     -----END CERTIFICATE-----
                 */
                ca_pem?: string | null;
                /** @description The certificate of the gateway for mutual TLS. null: none. */
                client_certificate?: {
                    /**
                     * @description The certificate that the gateway shows to upstreams, with its chain.
                     * @example -----BEGIN CERTIFICATE-----
                     *     MIIB…
                     *     -----END CERTIFICATE-----
                     */
                    cert_pem: string;
                    /**
                     * @description The private key of the certificate. No response shows it.
                     * @example -----BEGIN PRIVATE KEY-----
                     *     MIGH…
                     *     -----END PRIVATE KEY-----
                     */
                    key_pem: string;
                } | null;
                /**
                 * @description Sent as SNI, and expected in the certificate, in place of the host.
                 * @example payments.example
                 */
                server_name?: string | null;
            } | null;
            /** @description The addresses of the service. Requests are divided between the healthy ones. */
            upstreams?: {
                /**
                 * @description Where the upstream is. Data planes prefer upstreams of their own region. null: no region.
                 * @default null
                 * @example eu-west
                 */
                region?: string | null;
                /**
                 * @description The address of the upstream. The rest of the proxy path is appended to it.
                 * @example https://payments.internal:8443
                 */
                url: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests.
                 * @default 1
                 * @example 1
                 */
                weight?: number;
            }[];
            /**
             * @description The URL of the first upstream. In a body it is short for `upstreams` with one item.
             * @example https://payments.internal:8443
             */
            url?: string;
        };
        /** @description The health of a service, as live data planes see it. */
        ServiceHealth: {
            /**
             * @description The data planes that lately refused requests because the service was at one of its limits, at most 100. If there are any, a healthy service is degraded.
             * @example [
             *       "dp-1"
             *     ]
             */
            overloaded_on: string[];
            /**
             * @description The id of the service.
             * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            service_id: string;
            /**
             * @description The status of the service.
             * @example healthy
             * @enum {string}
             */
            status: "unknown" | "healthy" | "degraded" | "unhealthy";
            /** @description The health of each upstream. */
            upstreams: {
                /** @description Each live data plane, at most 100: failing ones first, then by id. */
                data_planes: {
                    /**
                     * @description The id of the data plane.
                     * @example dp-1
                     */
                    data_plane: string;
                    /**
                     * Format: date-time
                     * @description When its last heartbeat arrived.
                     * @example 2026-03-01T09:30:00.000Z
                     */
                    last_seen_at: string;
                    /**
                     * @description Why, in words. null: healthy without a recent ejection, or not reported.
                     * @example 5 of 5 requests failed, the last with status_503
                     */
                    reason: string | null;
                    /**
                     * @description The region of the data plane.
                     * @example eu
                     */
                    region: string;
                    /**
                     * @description Since when it is so, by the clock of the data plane. null: healthy without a recent ejection, or not reported.
                     * @example 2026-03-01T12:00:00.000Z
                     */
                    since: string | null;
                    /**
                     * @description healthy; unhealthy: its checks fail; ejected: its requests failed; half_open: it is on trial after that; unknown: not checked yet, or not reported.
                     * @example healthy
                     * @enum {string}
                     */
                    status: "healthy" | "unhealthy" | "ejected" | "half_open" | "unknown";
                }[];
                /**
                 * @description The id of the upstream, as in records.
                 * @example ups_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
                /**
                 * @description The region of the upstream.
                 * @example eu
                 */
                region: string | null;
                /** @description Counts for each region, by name. */
                regions: {
                    /**
                     * @description The data planes for which it is unhealthy, ejected or half open.
                     * @example 2
                     */
                    failing: number;
                    /**
                     * @description The data planes for which it is healthy.
                     * @example 2
                     */
                    healthy: number;
                    /**
                     * @description The region of the data planes.
                     * @example eu
                     */
                    region: string;
                    /**
                     * @description The data planes that have not checked it yet, or do not report it.
                     * @example 2
                     */
                    unknown: number;
                }[];
                /**
                 * @description Its health for all live data planes together.
                 * @example healthy
                 * @enum {string}
                 */
                status: "unknown" | "healthy" | "degraded" | "unhealthy";
                /**
                 * @description The URL of the upstream.
                 * @example https://payments.internal:8443
                 */
                url: string;
            }[];
        };
        /** @description A page of a list. */
        ServicePage: {
            /** @description The items of this page. */
            data: components["schemas"]["Service"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /**
         * @description All settings of a service. A setting that is left out gets its default.
         * @example {
         *       "url": "https://payments.internal:8443",
         *       "health_path": "/ready"
         *     }
         */
        ServiceReplace: {
            /** @description Read-only; accepted if unchanged. */
            readonly created_at?: unknown;
            /**
             * @description What the gateway sends to authenticate at upstreams. It is stored encrypted, and no response shows it. null removes it.
             * @example {
             *       "type": "bearer",
             *       "token": "sk_live_4eC39H"
             *     }
             */
            credential?: ({
                /**
                 * @description The token to send.
                 * @example sk_live_4eC39H
                 */
                token: string;
                /**
                 * @description Sends `Authorization: Bearer`.
                 * @constant
                 */
                type: "bearer";
            } | {
                /**
                 * @description The password.
                 * @example s3cret
                 */
                password: string;
                /**
                 * @description Sends `Authorization: Basic`.
                 * @constant
                 */
                type: "basic";
                /**
                 * @description The user name.
                 * @example gateway
                 */
                username: string;
            } | {
                /**
                 * @description The name of the header.
                 * @example X-API-Key
                 */
                name: string;
                /**
                 * @description Sends a header of any name.
                 * @constant
                 */
                type: "header";
                /**
                 * @description The value to send. In Authorization its scheme must not be one that authenticates a connection, such as Negotiate or NTLM.
                 * @example k-4eC39H
                 */
                value: string;
            }) | null;
            /**
             * @description The environment that is in the query.
             * @example production
             */
            environment?: string;
            /**
             * @description How data planes check whether an upstream is healthy.
             * @default {}
             */
            health_check?: {
                /**
                 * @description After this many successful checks in a row an upstream is healthy.
                 * @default 2
                 * @example 2
                 */
                healthy_threshold?: number;
                /**
                 * @description The milliseconds from one check of an upstream to the next.
                 * @default 5000
                 * @example 5000
                 */
                interval_ms?: number;
                /**
                 * @description The path that is requested. null: that of `health_path`.
                 * @default null
                 * @example /healthz
                 */
                path?: string | null;
                /**
                 * @description The milliseconds that a check may take, at most `interval_ms`. Default: 2000, or `interval_ms` if that is less.
                 * @example 2000
                 */
                timeout_ms?: number;
                /**
                 * @description After this many failed checks in a row an upstream is unhealthy.
                 * @default 3
                 * @example 3
                 */
                unhealthy_threshold?: number;
            };
            /**
             * @description The path of the health check at each upstream. A status from 200 to 299 is healthy.
             * @default /healthz
             * @example /healthz
             */
            health_path?: string;
            /** @description Read-only; accepted if unchanged. */
            readonly id?: unknown;
            /**
             * @description The limits of the service in each data plane. They keep a slow service from using up what the others need.
             * @default {}
             */
            limits?: {
                /**
                 * @description Whether each data plane lowers the limit of requests while latency rises.
                 * @default false
                 * @example false
                 */
                adaptive?: boolean;
                /**
                 * @description Connections of each data plane to each upstream. null, or more than MAX_UPSTREAM_CONNECTIONS of the data plane: that setting.
                 * @default null
                 * @example 64
                 */
                max_connections?: number | null;
                /**
                 * @description Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.
                 * @default null
                 * @example 200
                 */
                max_in_flight?: number | null;
                /**
                 * @description Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.
                 * @default null
                 * @example 100
                 */
                max_pending?: number | null;
            };
            /**
             * @description The name that is in the path.
             * @example payments
             */
            name?: string;
            /** @description Read-only; accepted if unchanged. */
            readonly revision?: unknown;
            /**
             * @description Whether the gateway names itself in `Via` to the upstreams. Some servers, such as nginx, do not compress responses to requests with `Via`.
             * @default false
             * @example false
             */
            send_via?: boolean;
            /** @description Read-only; accepted if unchanged. */
            readonly status?: unknown;
            /** @description TLS to upstreams with https. null: the defaults of the gateway. */
            tls?: {
                /**
                 * @description The only roots that are trusted, in place of those of the gateway.
                 * @example -----BEGIN CERTIFICATE-----
                 *     MIIB…
                 *     -----END CERTIFICATE-----
                 */
                ca_pem?: string | null;
                /** @description The certificate of the gateway for mutual TLS. null: none. */
                client_certificate?: {
                    /**
                     * @description The certificate that the gateway shows to upstreams, with its chain.
                     * @example -----BEGIN CERTIFICATE-----
                     *     MIIB…
                     *     -----END CERTIFICATE-----
                     */
                    cert_pem: string;
                    /**
                     * @description The private key of the certificate. No response shows it.
                     * @example -----BEGIN PRIVATE KEY-----
                     *     MIGH…
                     *     -----END PRIVATE KEY-----
                     */
                    key_pem: string;
                } | null;
                /**
                 * @description Sent as SNI, and expected in the certificate, in place of the host.
                 * @example payments.example
                 */
                server_name?: string | null;
            } | null;
            /** @description Read-only; accepted if unchanged. */
            readonly updated_at?: unknown;
            /** @description The addresses of the service. Requests are divided between the healthy ones. */
            upstreams?: {
                /**
                 * @description Where the upstream is. Data planes prefer upstreams of their own region. null: no region.
                 * @default null
                 * @example eu-west
                 */
                region?: string | null;
                /**
                 * @description The address of the upstream. The rest of the proxy path is appended to it.
                 * @example https://payments.internal:8443
                 */
                url: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests.
                 * @default 1
                 * @example 1
                 */
                weight?: number;
            }[];
            /**
             * @description The URL of the first upstream. In a body it is short for `upstreams` with one item.
             * @example https://payments.internal:8443
             */
            url?: string;
        } | unknown | unknown;
        /**
         * @description The fields to change.
         * @example {
         *       "health_path": "/ready",
         *       "limits": {
         *         "max_in_flight": 200
         *       }
         *     }
         */
        ServiceUpdate: {
            /** @description Read-only; accepted if unchanged. */
            readonly created_at?: unknown;
            /**
             * @description What the gateway sends to authenticate at upstreams. It is stored encrypted, and no response shows it. null removes it.
             * @example {
             *       "type": "bearer",
             *       "token": "sk_live_4eC39H"
             *     }
             */
            credential?: ({
                /**
                 * @description The token to send.
                 * @example sk_live_4eC39H
                 */
                token: string;
                /**
                 * @description Sends `Authorization: Bearer`.
                 * @constant
                 */
                type: "bearer";
            } | {
                /**
                 * @description The password.
                 * @example s3cret
                 */
                password: string;
                /**
                 * @description Sends `Authorization: Basic`.
                 * @constant
                 */
                type: "basic";
                /**
                 * @description The user name.
                 * @example gateway
                 */
                username: string;
            } | {
                /**
                 * @description The name of the header.
                 * @example X-API-Key
                 */
                name: string;
                /**
                 * @description Sends a header of any name.
                 * @constant
                 */
                type: "header";
                /**
                 * @description The value to send. In Authorization its scheme must not be one that authenticates a connection, such as Negotiate or NTLM.
                 * @example k-4eC39H
                 */
                value: string;
            }) | null;
            /** @description Read-only; accepted if unchanged. */
            readonly environment?: unknown;
            /** @description How data planes check whether an upstream is healthy. */
            health_check?: {
                /**
                 * @description After this many successful checks in a row an upstream is healthy.
                 * @example 2
                 */
                healthy_threshold?: number;
                /**
                 * @description The milliseconds from one check of an upstream to the next.
                 * @example 5000
                 */
                interval_ms?: number;
                /**
                 * @description The path that is requested. null: that of `health_path`.
                 * @example /healthz
                 */
                path?: string | null;
                /**
                 * @description The milliseconds that a check may take, at most `interval_ms`. Default: 2000, or `interval_ms` if that is less.
                 * @example 2000
                 */
                timeout_ms?: number;
                /**
                 * @description After this many failed checks in a row an upstream is unhealthy.
                 * @example 3
                 */
                unhealthy_threshold?: number;
            };
            /**
             * @description The path of the health check at each upstream. A status from 200 to 299 is healthy.
             * @example /healthz
             */
            health_path?: string;
            /** @description Read-only; accepted if unchanged. */
            readonly id?: unknown;
            /** @description The limits of the service in each data plane. They keep a slow service from using up what the others need. */
            limits?: {
                /**
                 * @description Whether each data plane lowers the limit of requests while latency rises.
                 * @example false
                 */
                adaptive?: boolean;
                /**
                 * @description Connections of each data plane to each upstream. null, or more than MAX_UPSTREAM_CONNECTIONS of the data plane: that setting.
                 * @example 64
                 */
                max_connections?: number | null;
                /**
                 * @description Requests at one time in each data plane, and as many WebSockets. null: half of MAX_IN_FLIGHT_REQUESTS and of MAX_WEBSOCKETS, or all of them if no other service is registered, in any environment.
                 * @example 200
                 */
                max_in_flight?: number | null;
                /**
                 * @description Requests that wait in each data plane for a connection to each upstream. null: twice the number of connections, but at least 100.
                 * @example 100
                 */
                max_pending?: number | null;
            };
            /**
             * @description The name of the service, unique in its environment.
             * @example payments
             */
            name?: string;
            /** @description Read-only; accepted if unchanged. */
            readonly revision?: unknown;
            /**
             * @description Whether the gateway names itself in `Via` to the upstreams. Some servers, such as nginx, do not compress responses to requests with `Via`.
             * @example false
             */
            send_via?: boolean;
            /** @description Read-only; accepted if unchanged. */
            readonly status?: unknown;
            /** @description TLS to upstreams with https. null: the defaults of the gateway. */
            tls?: {
                /**
                 * @description The only roots that are trusted, in place of those of the gateway.
                 * @example -----BEGIN CERTIFICATE-----
                 *     MIIB…
                 *     -----END CERTIFICATE-----
                 */
                ca_pem?: string | null;
                /** @description The certificate of the gateway for mutual TLS. null: none. */
                client_certificate?: {
                    /**
                     * @description The certificate that the gateway shows to upstreams, with its chain.
                     * @example -----BEGIN CERTIFICATE-----
                     *     MIIB…
                     *     -----END CERTIFICATE-----
                     */
                    cert_pem: string;
                    /**
                     * @description The private key of the certificate. No response shows it.
                     * @example -----BEGIN PRIVATE KEY-----
                     *     MIGH…
                     *     -----END PRIVATE KEY-----
                     */
                    key_pem: string;
                } | null;
                /**
                 * @description Sent as SNI, and expected in the certificate, in place of the host.
                 * @example payments.example
                 */
                server_name?: string | null;
            } | null;
            /** @description Read-only; accepted if unchanged. */
            readonly updated_at?: unknown;
            /** @description The addresses of the service. Requests are divided between the healthy ones. */
            upstreams?: {
                /**
                 * @description Where the upstream is. Data planes prefer upstreams of their own region. null: no region.
                 * @default null
                 * @example eu-west
                 */
                region?: string | null;
                /**
                 * @description The address of the upstream. The rest of the proxy path is appended to it.
                 * @example https://payments.internal:8443
                 */
                url: string;
                /**
                 * @description Its share of the sum of weights is its share of the requests.
                 * @default 1
                 * @example 1
                 */
                weight?: number;
            }[];
            /**
             * @description The URL of the first upstream. In a body it is short for `upstreams` with one item.
             * @example https://payments.internal:8443
             */
            url?: string;
        };
        /** @description Counts and durations of requests. */
        Statistics: {
            /**
             * Format: date-time
             * @description The begin of the period, a whole minute.
             * @example 2026-03-01T09:00:00Z
             */
            from: string;
            /** @description The steps that have requests, oldest first; empty without `step`. The first and the last one may be cut by the period. */
            steps: {
                /**
                 * Format: date-time
                 * @description When the step begins.
                 * @example 2026-03-01T09:00:00Z
                 */
                at: string;
                /**
                 * @description How many of them had the outcome `upstream_error`, `upstream_unavailable` or `timeout`, or a status of 500 or more.
                 * @example 3
                 */
                errors: number;
                /**
                 * @description The duration that 50 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p50_ms: number | null;
                /**
                 * @description The duration that 95 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p95_ms: number | null;
                /**
                 * @description The duration that 99 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p99_ms: number | null;
                /**
                 * @description How many requests there were.
                 * @example 1200
                 */
                requests: number;
            }[];
            /**
             * Format: date-time
             * @description The end of the period, a whole minute; it is not included.
             * @example 2026-03-01T10:00:00Z
             */
            to: string;
            /** @description The whole period. */
            total: {
                /**
                 * @description How many of them had the outcome `upstream_error`, `upstream_unavailable` or `timeout`, or a status of 500 or more.
                 * @example 3
                 */
                errors: number;
                /**
                 * @description The duration that 50 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p50_ms: number | null;
                /**
                 * @description The duration that 95 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p95_ms: number | null;
                /**
                 * @description The duration that 99 % of the requests do not exceed, ms, within 9.1 %. null: there are no requests.
                 * @example 42.3
                 */
                p99_ms: number | null;
                /**
                 * @description How many requests there were.
                 * @example 1200
                 */
                requests: number;
            };
        };
        /** @description A token, without its secret. */
        Token: {
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The token that created it. null: the control plane.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            created_by: string | null;
            /**
             * @description The environments that the token covers. `*`: all.
             * @example [
             *       "production"
             *     ]
             */
            environments: ("*" | string)[];
            /**
             * @description When the token expires. null: never.
             * @example 2027-01-31T12:00:00.000Z
             */
            expires_at: string | null;
            /**
             * @description The id of the token.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * @description When it was last used, exact to about a minute. Calls of this API and of routes count. null: never.
             * @example 2026-03-01T09:30:00.000Z
             */
            last_used_at: string | null;
            /**
             * @description The name of the token, for people. It is unique among the tokens of each environment that it covers; the tokens of all environments (`*`) have names of their own.
             * @example billing
             */
            name: string;
            /**
             * @description The names of the routes that the token covers. `*`: all.
             * @example [
             *       "charges"
             *     ]
             */
            routes: ("*" | string)[];
            /**
             * @description What the token may do. `*`: everything.
             * @example [
             *       "proxy"
             *     ]
             */
            scopes: ("services:read" | "services:write" | "routes:read" | "routes:write" | "requests:read" | "tokens:read" | "tokens:write" | "config:read" | "config:write" | "audit:read" | "proxy" | "*")[];
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description A new token.
         * @example {
         *       "name": "billing",
         *       "environments": [
         *         "production"
         *       ],
         *       "routes": [
         *         "charges"
         *       ],
         *       "scopes": [
         *         "proxy"
         *       ]
         *     }
         */
        TokenCreate: {
            /**
             * @description The environments that the token covers. `*`: all.
             * @example [
             *       "production"
             *     ]
             */
            environments: ("*" | string)[];
            /**
             * @description When the token expires. null: never. If it is left out, it expires with the token of the call.
             * @example 2027-01-31T12:00:00Z
             */
            expires_at?: string | null;
            /**
             * @description The name of the token, for people. It is unique among the tokens of each environment that it covers; the tokens of all environments (`*`) have names of their own.
             * @example billing
             */
            name: string;
            /**
             * @description The names of the routes that the token covers. `*`: all. If it is left out, all; the token of the call must cover them too.
             * @example [
             *       "charges"
             *     ]
             */
            routes?: ("*" | string)[];
            /**
             * @description What the token may do. `*`: everything.
             * @example [
             *       "proxy"
             *     ]
             */
            scopes: ("services:read" | "services:write" | "routes:read" | "routes:write" | "requests:read" | "tokens:read" | "tokens:write" | "config:read" | "config:write" | "audit:read" | "proxy" | "*")[];
        };
        /** @description A page of a list. */
        TokenPage: {
            /** @description The items of this page. */
            data: components["schemas"]["Token"][];
            /**
             * @description Send it as `cursor` to read the next page. null: this is the last page.
             * @example null
             */
            next_cursor: string | null;
            /**
             * @description The id of the request, as in the header `X-Request-Id`.
             * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            request_id: string;
        };
        /**
         * @description How the old secret ends.
         * @default {}
         * @example {
         *       "grace_seconds": 3600
         *     }
         */
        TokenRotate: {
            /**
             * @description The seconds that the old secret stays valid.
             * @default 3600
             * @example 3600
             */
            grace_seconds?: number;
        };
        /**
         * @description The fields to change.
         * @example {
         *       "name": "billing-2"
         *     }
         */
        TokenUpdate: {
            /** @description Read-only; accepted if unchanged. */
            readonly created_at?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly created_by?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly environments?: unknown;
            /**
             * @description When the token expires. null: never.
             * @example 2027-01-31T12:00:00Z
             */
            expires_at?: string | null;
            /** @description Read-only; accepted if unchanged. */
            readonly id?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly last_used_at?: unknown;
            /**
             * @description The name of the token, for people. It is unique among the tokens of each environment that it covers; the tokens of all environments (`*`) have names of their own.
             * @example billing
             */
            name?: string;
            /** @description Read-only; accepted if unchanged. */
            readonly routes?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly scopes?: unknown;
            /** @description Read-only; accepted if unchanged. */
            readonly updated_at?: unknown;
        };
        /** @description A token and its new secret. */
        TokenWithSecret: {
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * @description The token that created it. null: the control plane.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            created_by: string | null;
            /**
             * @description The environments that the token covers. `*`: all.
             * @example [
             *       "production"
             *     ]
             */
            environments: ("*" | string)[];
            /**
             * @description When the token expires. null: never.
             * @example 2027-01-31T12:00:00.000Z
             */
            expires_at: string | null;
            /**
             * @description The id of the token.
             * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
             */
            id: string;
            /**
             * @description When it was last used, exact to about a minute. Calls of this API and of routes count. null: never.
             * @example 2026-03-01T09:30:00.000Z
             */
            last_used_at: string | null;
            /**
             * @description The name of the token, for people. It is unique among the tokens of each environment that it covers; the tokens of all environments (`*`) have names of their own.
             * @example billing
             */
            name: string;
            /**
             * @description The names of the routes that the token covers. `*`: all.
             * @example [
             *       "charges"
             *     ]
             */
            routes: ("*" | string)[];
            /**
             * @description What the token may do. `*`: everything.
             * @example [
             *       "proxy"
             *     ]
             */
            scopes: ("services:read" | "services:write" | "routes:read" | "routes:write" | "requests:read" | "tokens:read" | "tokens:write" | "config:read" | "config:write" | "audit:read" | "proxy" | "*")[];
            /**
             * @description The secret, which callers send. No other response shows it.
             * @example gwt_3fG7…
             */
            secret: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
    };
    responses: {
        /** @description `authentication_failed`: The token is missing, unknown, expired or revoked, or its environments, routes or scopes do not cover this. */
        authentication_failed: {
            headers: {
                "www-authenticate": components["headers"]["www-authenticate"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `environment_not_found`: No environment has this name.
         *
         *     `config_version_not_found`: The environment has no stored configuration version with this number.
         */
        config_version_not_found_or_environment_not_found: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         *
         *     `config_version_not_restorable`: The configuration cannot be rolled back to this version: it has secrets encrypted with an unknown master key, it is of a deleted environment that had the name before, or the history of later changes is incomplete.
         *
         *     `in_use`: Tokens name the route that the call, or a rollback, would rename.
         */
        config_version_not_restorable_or_idempotency_conflict_or_idempotency_in_progress_or_in_use: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `gateway_not_ready`: The configuration is not loaded completely, the key set of a JWT issuer cannot be fetched, this data plane lacks the master key for the credential of the service, or Postgres or NATS, which a management call needs, cannot be reached or took too long.
         *
         *     `data_plane_unavailable`: A call needs the answer of a data plane, and none is live, the named one does not answer in time, its version is too old, or it serves another configuration.
         */
        data_plane_unavailable_or_gateway_not_ready: {
            headers: {
                "retry-after": components["headers"]["retry-after"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `authentication_failed`: The token is missing, unknown, expired or revoked, or its environments, routes or scopes do not cover this. */
        deprecated_authentication_failed: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "www-authenticate": components["headers"]["www-authenticate"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `config_version_not_found`: The environment has no stored configuration version with this number. */
        deprecated_config_version_not_found: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `environment_not_found`: No environment has this name.
         *
         *     `config_version_not_found`: The environment has no stored configuration version with this number.
         */
        deprecated_config_version_not_found_or_environment_not_found: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         *
         *     `config_version_not_restorable`: The configuration cannot be rolled back to this version: it has secrets encrypted with an unknown master key, it is of a deleted environment that had the name before, or the history of later changes is incomplete.
         *
         *     `in_use`: Tokens name the route that the call, or a rollback, would rename.
         */
        deprecated_config_version_not_restorable_or_idempotency_conflict_or_idempotency_in_progress_or_in_use: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `environment_not_found`: No environment has this name. */
        deprecated_environment_not_found: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `gateway_not_ready`: The configuration is not loaded completely, the key set of a JWT issuer cannot be fetched, this data plane lacks the master key for the credential of the service, or Postgres or NATS, which a management call needs, cannot be reached or took too long. */
        deprecated_gateway_not_ready: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "retry-after": components["headers"]["retry-after"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: An unexpected failure of the gateway, or the connection to the database was lost while a change was committed. */
        deprecated_internal_error: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_request`: A field is missing, of a wrong type or out of bounds, the JSON is malformed, the path is not allowed, or a credential for the upstream authenticates a connection (NTLM, Negotiate and the like). */
        deprecated_invalid_request: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: The body is larger than the route or the endpoint accepts. */
        deprecated_payload_too_large: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `precondition_failed`: `If-Match` names an older revision, or another resource that had the name. */
        deprecated_precondition_failed: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                etag: components["headers"]["etag"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `rate_limit_exceeded`: The quota of the route, of the management token or of failed authentications is used up. */
        deprecated_rate_limit_exceeded: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "retry-after": components["headers"]["retry-after"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_timeout`: The request did not arrive in time: its head, or its body within `timeout_ms` of the route or without progress for too long. */
        deprecated_request_timeout: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: The body of a management request is not JSON. */
        deprecated_unsupported_media_type: {
            headers: {
                deprecation: components["headers"]["deprecation"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `environment_in_use`: The environment still has services, routes or tokens. */
        environment_in_use: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `environment_not_found`: No environment has this name. */
        environment_not_found: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `gateway_not_ready`: The configuration is not loaded completely, the key set of a JWT issuer cannot be fetched, this data plane lacks the master key for the credential of the service, or Postgres or NATS, which a management call needs, cannot be reached or took too long. */
        gateway_not_ready: {
            headers: {
                "retry-after": components["headers"]["retry-after"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `gateway_not_ready`: The configuration is not loaded completely, the key set of a JWT issuer cannot be fetched, this data plane lacks the master key for the credential of the service, or Postgres or NATS, which a management call needs, cannot be reached or took too long.
         *
         *     `gateway_overloaded`: The gateway sheds load: too many requests are in flight, it has no file descriptor, port or memory left, or it could not send the request before `timeout_ms`.
         */
        gateway_not_ready_or_gateway_overloaded: {
            headers: {
                "retry-after": components["headers"]["retry-after"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         */
        idempotency_conflict_or_idempotency_in_progress: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         *
         *     `idempotency_secret_gone`: The first management call with this key succeeded and created a secret, which is shown again only once and only for 10 minutes.
         */
        idempotency_conflict_or_idempotency_in_progress_or_idempotency_secret_gone: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         *
         *     `name_conflict`: The name is already used in the environment.
         *
         *     `idempotency_secret_gone`: The first management call with this key succeeded and created a secret, which is shown again only once and only for 10 minutes.
         */
        idempotency_conflict_or_idempotency_in_progress_or_idempotency_secret_gone_or_name_conflict: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         *
         *     `name_conflict`: The name is already used in the environment.
         */
        idempotency_conflict_or_idempotency_in_progress_or_name_conflict: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `idempotency_conflict`: The idempotency key was used with another method, path, query or body.
         *
         *     `idempotency_in_progress`: The first request with this key has not ended by this one's deadline.
         *
         *     `service_in_use`: A route uses the service.
         */
        idempotency_conflict_or_idempotency_in_progress_or_service_in_use: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `name_conflict`: The name is already used in the environment.
         *
         *     `in_use`: Tokens name the route that the call, or a rollback, would rename.
         */
        in_use_or_name_conflict: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: An unexpected failure of the gateway, or the connection to the database was lost while a change was committed. */
        internal_error: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_request`: A field is missing, of a wrong type or out of bounds, the JSON is malformed, the path is not allowed, or a credential for the upstream authenticates a connection (NTLM, Negotiate and the like). */
        invalid_request: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `method_not_allowed`: The path or the route does not accept this method. */
        method_not_allowed: {
            headers: {
                allow: components["headers"]["allow"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `name_conflict`: The name is already used in the environment. */
        name_conflict: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: The body is larger than the route or the endpoint accepts. */
        payload_too_large: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `precondition_failed`: `If-Match` names an older revision, or another resource that had the name. */
        precondition_failed: {
            headers: {
                etag: components["headers"]["etag"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `rate_limit_exceeded`: The quota of the route, of the management token or of failed authentications is used up. */
        rate_limit_exceeded: {
            headers: {
                "retry-after": components["headers"]["retry-after"];
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_not_found`: No request has this id, or it is older than 30 days. */
        request_not_found: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `request_timeout`: The request did not arrive in time: its head, or its body within `timeout_ms` of the route or without progress for too long. */
        request_timeout: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `resource_unreadable`: The service, route or token has a value that this release of the control plane does not know: another release has stored it. The message names the field. */
        resource_unreadable: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `route_not_found`: No active route of this name or id exists in the environment. */
        route_not_found: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_in_use`: A route uses the service. */
        service_in_use: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_not_found`: No service has this id. */
        service_not_found: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `token_not_found`: No token has this id. */
        token_not_found: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: The body of a management request is not JSON. */
        unsupported_media_type: {
            headers: {
                "x-gateway-error": components["headers"]["x-gateway-error"];
                "x-gateway-latency": components["headers"]["x-gateway-latency"];
                "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                "x-request-id": components["headers"]["x-request-id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The methods that the path accepts. */
        allow: string;
        /** @description Since when the operation is deprecated (RFC 9745). */
        deprecation: string;
        /** @description Names the resource and its revision, and the status of a service if the response shows it. A 412 has none if there is no resource. */
        etag: string;
        /** @description `true` if this is the stored response to an earlier call with the same key. */
        "idempotent-replayed": "true";
        /** @description The path of the new resource. */
        location: string;
        /** @description `wait=N` if every live data plane serves the change. */
        "preference-applied": string;
        /** @description The seconds to wait before the next call. */
        "retry-after": number;
        /** @description The authentication that the API expects (RFC 6750). */
        "www-authenticate": string;
        /** @description The code of the error. */
        "x-gateway-error": "invalid_request" | "authentication_failed" | "route_not_found" | "service_not_found" | "token_not_found" | "environment_not_found" | "request_not_found" | "config_version_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "response_timeout" | "idempotency_conflict" | "idempotency_in_progress" | "idempotency_outcome_unknown" | "idempotency_secret_gone" | "name_conflict" | "service_in_use" | "in_use" | "environment_in_use" | "config_version_not_restorable" | "precondition_failed" | "payload_too_large" | "uri_too_long" | "header_fields_too_large" | "unsupported_media_type" | "rate_limit_exceeded" | "internal_error" | "not_implemented" | "resource_unreadable" | "upstream_unavailable" | "upstream_overloaded" | "gateway_overloaded" | "gateway_not_ready" | "gateway_stopping" | "route_unusable" | "data_plane_unavailable" | "idempotency_unavailable" | "quota_unavailable" | "upstream_timeout" | "http_version_not_supported";
        /** @description The whole milliseconds that the gateway spent. */
        "x-gateway-latency": number;
        /** @description Why the wait ended before every live data plane served the change. */
        "x-gateway-wait": "not_published" | "data_planes_behind" | "configuration_unusable" | "no_live_data_planes" | "too_many_waiting" | "stopping";
        /** @description The calls that the token may make in a window. If the authentication fails: the failures that the address may have. */
        "x-ratelimit-limit": number;
        /** @description The calls left in the window. */
        "x-ratelimit-remaining": number;
        /** @description The seconds until the window ends. */
        "x-ratelimit-reset": number;
        /** @description Identifies the request in logs and in support. */
        "x-request-id": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAuditEvents: {
        parameters: {
            query?: {
                /**
                 * @description Only changes of this kind.
                 * @example route.updated
                 */
                action?: "service.created" | "service.updated" | "service.deleted" | "route.created" | "route.updated" | "route.deleted" | "token.created" | "token.updated" | "token.rotated" | "token.revoked" | "environment.created" | "environment.deleted" | "environment.rolled_back";
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only changes of this call.
                 * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                request_id?: string;
                /**
                 * @description Only changes of this resource: its id; of an environment, its name.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                resource_id?: string;
                /**
                 * @description Only changes of this kind of resource.
                 * @example route
                 */
                resource_type?: "service" | "route" | "token" | "environment";
                /**
                 * @description Only items from this time on.
                 * @example 2026-03-01T00:00:00Z
                 */
                since?: string;
                /**
                 * @description Only changes that this token made.
                 * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                token_id?: string;
                /**
                 * @description Only items before this time.
                 * @example 2026-03-02T00:00:00Z
                 */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "aud_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "occurred_at": "2026-03-01T09:30:00.000Z",
                     *           "action": "route.updated",
                     *           "resource_type": "route",
                     *           "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "environments": [
                     *             "production"
                     *           ],
                     *           "token_id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "client_ip": "203.0.113.7",
                     *           "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "before": {
                     *             "timeout_ms": 10000
                     *           },
                     *           "after": {
                     *             "timeout_ms": 5000
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["AuditEventPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready_or_gateway_overloaded"];
        };
    };
    diffConfigVersions: {
        parameters: {
            query: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                environment: string;
                /**
                 * @description The version to compare.
                 * @example 41
                 */
                from: number;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description The version to compare it with.
                 * @example 42
                 */
                to: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    deprecation: components["headers"]["deprecation"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "resource_type": "route",
                     *           "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "name": "charges",
                     *           "change": "changed",
                     *           "before": {
                     *             "timeout_ms": 10000
                     *           },
                     *           "after": {
                     *             "timeout_ms": 5000
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["ConfigDifferencePage"];
                };
            };
            400: components["responses"]["deprecated_invalid_request"];
            401: components["responses"]["deprecated_authentication_failed"];
            404: components["responses"]["deprecated_config_version_not_found_or_environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["deprecated_rate_limit_exceeded"];
            500: components["responses"]["deprecated_internal_error"];
            503: components["responses"]["deprecated_gateway_not_ready"];
        };
    };
    rollBackConfig: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "environment": "production",
                 *       "version": 41
                 *     }
                 */
                "application/json": components["schemas"]["Rollback"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    deprecation: components["headers"]["deprecation"];
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "environment": "production",
                     *         "restored_version": 41,
                     *         "dry_run": false,
                     *         "changed": true,
                     *         "services": {
                     *           "created": 0,
                     *           "updated": 1,
                     *           "deleted": 0
                     *         },
                     *         "routes": {
                     *           "created": 0,
                     *           "updated": 1,
                     *           "deleted": 0
                     *         },
                     *         "changes": [
                     *           {
                     *             "resource_type": "route",
                     *             "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "name": "charges",
                     *             "action": "updated",
                     *             "fields": [
                     *               {
                     *                 "path": "/rate_limit/limit",
                     *                 "before": 60000,
                     *                 "after": 1000,
                     *                 "secret_changed": true
                     *               }
                     *             ],
                     *             "before": null,
                     *             "after": null
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["RollbackResult"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["deprecated_invalid_request"];
            401: components["responses"]["deprecated_authentication_failed"];
            404: components["responses"]["deprecated_config_version_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["deprecated_request_timeout"];
            409: components["responses"]["deprecated_config_version_not_restorable_or_idempotency_conflict_or_idempotency_in_progress_or_in_use"];
            412: components["responses"]["deprecated_precondition_failed"];
            413: components["responses"]["deprecated_payload_too_large"];
            415: components["responses"]["deprecated_unsupported_media_type"];
            429: components["responses"]["deprecated_rate_limit_exceeded"];
            500: components["responses"]["deprecated_internal_error"];
            503: components["responses"]["deprecated_gateway_not_ready"];
        };
    };
    listConfigVersions: {
        parameters: {
            query: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                environment: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    deprecation: components["headers"]["deprecation"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "environment": "production",
                     *           "version": 42,
                     *           "published_at": "2026-03-01T09:30:00.000Z",
                     *           "reason": "changed",
                     *           "changes": 1,
                     *           "changed_resources": [
                     *             {
                     *               "resource_type": "route",
                     *               "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *               "name": "charges",
                     *               "change": "changed",
                     *               "fields": [
                     *                 "status"
                     *               ]
                     *             }
                     *           ],
                     *           "restored_version": null,
                     *           "changed_by": [
                     *             "tok_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *           ],
                     *           "current": true,
                     *           "former": false
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["ConfigVersionPage"];
                };
            };
            400: components["responses"]["deprecated_invalid_request"];
            401: components["responses"]["deprecated_authentication_failed"];
            404: components["responses"]["deprecated_environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["deprecated_rate_limit_exceeded"];
            500: components["responses"]["deprecated_internal_error"];
            503: components["responses"]["deprecated_gateway_not_ready"];
        };
    };
    getConfigVersion: {
        parameters: {
            query: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                environment: string;
            };
            header?: never;
            path: {
                /**
                 * @description The number of a version.
                 * @example 42
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    deprecation: components["headers"]["deprecation"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "environment": "production",
                     *         "version": 42,
                     *         "published_at": "2026-03-01T09:30:00.000Z",
                     *         "reason": "changed",
                     *         "changes": 1,
                     *         "changed_resources": [
                     *           {
                     *             "resource_type": "route",
                     *             "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "name": "charges",
                     *             "change": "changed",
                     *             "fields": [
                     *               "status"
                     *             ]
                     *           }
                     *         ],
                     *         "restored_version": null,
                     *         "changed_by": [
                     *           "tok_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *         ],
                     *         "current": true,
                     *         "former": false
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConfigVersion"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["deprecated_invalid_request"];
            401: components["responses"]["deprecated_authentication_failed"];
            404: components["responses"]["deprecated_config_version_not_found_or_environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["deprecated_rate_limit_exceeded"];
            500: components["responses"]["deprecated_internal_error"];
            503: components["responses"]["deprecated_gateway_not_ready"];
        };
    };
    listDataPlanes: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "dp-7f9c-1",
                     *           "region": "eu-west",
                     *           "gateway_version": "0.1.0",
                     *           "started_at": "2026-03-01T09:30:00.000Z",
                     *           "last_seen_at": "2026-03-01T09:30:00.000Z",
                     *           "stale": false,
                     *           "in_flight": 12,
                     *           "server_ahead_ms": 0,
                     *           "last_error": null,
                     *           "environments": [
                     *             {
                     *               "environment": "production",
                     *               "version": 42,
                     *               "newest_version": 42,
                     *               "versions_behind": 0,
                     *               "seconds_behind": 0,
                     *               "last_error": null,
                     *               "unusable_count": 0,
                     *               "unusable": []
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["DataPlanePage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    listEnvironments: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "env_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "name": "production",
                     *           "config_version": 42,
                     *           "created_at": "2026-03-01T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    createEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "staging"
                 *     }
                 */
                "application/json": components["schemas"]["EnvironmentCreate"];
            };
        };
        responses: {
            /** @description The new resource. */
            201: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    location: components["headers"]["location"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "env_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "production",
                     *         "config_version": 42,
                     *         "created_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Environment"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress_or_name_conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you have. If it is still right, the answer is 304 without a body.
                 * @example "3-3p6t8w0x"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "env_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "production",
                     *         "config_version": 42,
                     *         "created_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Environment"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description The resource is still the one that `If-None-Match` names. */
            304: {
                headers: {
                    etag: components["headers"]["etag"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    deleteEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            409: components["responses"]["environment_in_use"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    applyEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "services": [
                 *         {
                 *           "name": "payments",
                 *           "url": "https://payments.internal:8443"
                 *         }
                 *       ],
                 *       "routes": [
                 *         {
                 *           "name": "charges",
                 *           "service": "payments",
                 *           "timeout_ms": 5000
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["EnvironmentApply"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "environment": "production",
                     *         "dry_run": false,
                     *         "changed": true,
                     *         "services": {
                     *           "created": 1,
                     *           "updated": 1,
                     *           "deleted": 1,
                     *           "unchanged": 1
                     *         },
                     *         "routes": {
                     *           "created": 1,
                     *           "updated": 1,
                     *           "deleted": 1,
                     *           "unchanged": 1
                     *         },
                     *         "changes": [
                     *           {
                     *             "resource_type": "route",
                     *             "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "name": "charges",
                     *             "action": "updated",
                     *             "fields": [
                     *               {
                     *                 "path": "/rate_limit/limit",
                     *                 "before": 60000,
                     *                 "after": 1000,
                     *                 "secret_changed": true
                     *               }
                     *             ],
                     *             "before": null,
                     *             "after": null
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ApplyResult"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description Done, and the token lacks `services:read` and `routes:read`. The response has no body. */
            204: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress_or_service_in_use"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    diffEnvironmentVersions: {
        parameters: {
            query: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description The version to compare.
                 * @example 41
                 */
                from: number;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description The version to compare it with.
                 * @example 42
                 */
                to: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "resource_type": "route",
                     *           "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "name": "charges",
                     *           "change": "changed",
                     *           "before": {
                     *             "timeout_ms": 10000
                     *           },
                     *           "after": {
                     *             "timeout_ms": 5000
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["ConfigDifferencePage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["config_version_not_found_or_environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    exportEnvironment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "environment": "production",
                     *         "services": [
                     *           {
                     *             "name": "payments",
                     *             "url": "https://payments.internal:8443"
                     *           }
                     *         ],
                     *         "routes": [
                     *           {
                     *             "name": "charges",
                     *             "service": "payments",
                     *             "timeout_ms": 5000
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["EnvironmentExport"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    rollBackEnvironment: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "version": 41
                 *     }
                 */
                "application/json": components["schemas"]["EnvironmentRollback"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "environment": "production",
                     *         "restored_version": 41,
                     *         "dry_run": false,
                     *         "changed": true,
                     *         "services": {
                     *           "created": 0,
                     *           "updated": 1,
                     *           "deleted": 0
                     *         },
                     *         "routes": {
                     *           "created": 0,
                     *           "updated": 1,
                     *           "deleted": 0
                     *         },
                     *         "changes": [
                     *           {
                     *             "resource_type": "route",
                     *             "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "name": "charges",
                     *             "action": "updated",
                     *             "fields": [
                     *               {
                     *                 "path": "/rate_limit/limit",
                     *                 "before": 60000,
                     *                 "after": 1000,
                     *                 "secret_changed": true
                     *               }
                     *             ],
                     *             "before": null,
                     *             "after": null
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["RollbackResult"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["config_version_not_found_or_environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["config_version_not_restorable_or_idempotency_conflict_or_idempotency_in_progress_or_in_use"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    listEnvironmentVersions: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "environment": "production",
                     *           "version": 42,
                     *           "published_at": "2026-03-01T09:30:00.000Z",
                     *           "reason": "changed",
                     *           "changes": 1,
                     *           "changed_resources": [
                     *             {
                     *               "resource_type": "route",
                     *               "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *               "name": "charges",
                     *               "change": "changed",
                     *               "fields": [
                     *                 "status"
                     *               ]
                     *             }
                     *           ],
                     *           "restored_version": null,
                     *           "changed_by": [
                     *             "tok_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *           ],
                     *           "current": true,
                     *           "former": false
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["ConfigVersionPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getEnvironmentVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the environment.
                 * @example production
                 */
                name: string;
                /**
                 * @description The number of a version.
                 * @example 42
                 */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "environment": "production",
                     *         "version": 42,
                     *         "published_at": "2026-03-01T09:30:00.000Z",
                     *         "reason": "changed",
                     *         "changes": 1,
                     *         "changed_resources": [
                     *           {
                     *             "resource_type": "route",
                     *             "resource_id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "name": "charges",
                     *             "change": "changed",
                     *             "fields": [
                     *               "status"
                     *             ]
                     *           }
                     *         ],
                     *         "restored_version": null,
                     *         "changed_by": [
                     *           "tok_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *         ],
                     *         "current": true,
                     *         "former": false
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ConfigVersion"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["config_version_not_found_or_environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getOpenApiDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0"
                     *     }
                     */
                    "application/json": Record<string, never>;
                };
            };
            400: components["responses"]["invalid_request"];
            405: components["responses"]["method_not_allowed"];
            500: components["responses"]["internal_error"];
        };
    };
    listRequests: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description Only requests that the gateway answered with this error.
                 * @example upstream_timeout
                 */
                error_code?: "invalid_request" | "authentication_failed" | "route_not_found" | "service_not_found" | "token_not_found" | "environment_not_found" | "request_not_found" | "config_version_not_found" | "not_found" | "method_not_allowed" | "request_timeout" | "response_timeout" | "idempotency_conflict" | "idempotency_in_progress" | "idempotency_outcome_unknown" | "idempotency_secret_gone" | "name_conflict" | "service_in_use" | "in_use" | "environment_in_use" | "config_version_not_restorable" | "precondition_failed" | "payload_too_large" | "uri_too_long" | "header_fields_too_large" | "unsupported_media_type" | "rate_limit_exceeded" | "internal_error" | "not_implemented" | "resource_unreadable" | "upstream_unavailable" | "upstream_overloaded" | "gateway_overloaded" | "gateway_not_ready" | "gateway_stopping" | "route_unusable" | "data_plane_unavailable" | "idempotency_unavailable" | "quota_unavailable" | "upstream_timeout" | "http_version_not_supported";
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only requests with this method.
                 * @example POST
                 */
                method?: string;
                /**
                 * @description Only requests that took at least this long, in milliseconds.
                 * @example 500
                 */
                min_duration_ms?: number;
                /**
                 * @description Only requests that ended like this.
                 * @example timeout
                 */
                outcome?: "success" | "upstream_error" | "upstream_unavailable" | "timeout" | "rejected" | "client_aborted";
                /**
                 * @description Only requests to the route of this name.
                 * @example charges
                 */
                route?: string;
                /**
                 * @description Only items from this time on.
                 * @example 2026-03-01T00:00:00Z
                 */
                since?: string;
                /**
                 * @description Only requests that were answered with this status.
                 * @example 502
                 */
                status?: number;
                /**
                 * @description Only requests whose status is of this class. `none`: the caller left before a response.
                 * @example 5xx
                 */
                status_class?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx" | "none";
                /**
                 * @description Only requests with the token of this id.
                 * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                token_id?: string;
                /**
                 * @description Only items before this time.
                 * @example 2026-03-02T00:00:00Z
                 */
                until?: string;
                /**
                 * @description Only requests whose last attempt went to the upstream with this id or URL.
                 * @example https://payments.internal:8443
                 */
                upstream?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "environment": "production",
                     *           "route": "charges",
                     *           "route_version": "stable",
                     *           "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "method": "POST",
                     *           "path": "/v1/proxy/charges",
                     *           "status": 201,
                     *           "outcome": "success",
                     *           "error_code": null,
                     *           "error_stage": null,
                     *           "timing": {
                     *             "gateway_ms": 1.9,
                     *             "receiving_ms": 0,
                     *             "waiting_ms": 17.2,
                     *             "upstream_ms": 21.2,
                     *             "sending_ms": 0.1,
                     *             "total_ms": 40.4
                     *           },
                     *           "waits": {
                     *             "key_ms": 0,
                     *             "quota_ms": 0,
                     *             "connection_ms": 0,
                     *             "retry_ms": 17.2
                     *           },
                     *           "upstream": {
                     *             "id": "ups_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu-west"
                     *           },
                     *           "retry_count": 0,
                     *           "attempts": [
                     *             {
                     *               "upstream": "ups_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *               "region": "eu-west",
                     *               "started_ms": 1.2,
                     *               "duration_ms": 38.4,
                     *               "status": 201,
                     *               "error": "connect_refused",
                     *               "retry": {
                     *                 "retried": true,
                     *                 "why": "nothing_sent"
                     *               }
                     *             }
                     *           ],
                     *           "rate_limit": {
                     *             "limit": 1000,
                     *             "remaining": 999,
                     *             "reset_seconds": 42
                     *           },
                     *           "idempotency": null,
                     *           "token_id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "subject": null,
                     *           "claims": null,
                     *           "client_ip": "203.0.113.7",
                     *           "client_request_id": null,
                     *           "request_bytes": 212,
                     *           "response_bytes": 96,
                     *           "data_plane": "dp-7f9c-1",
                     *           "config_version": 42,
                     *           "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
                     *           "header_names": [
                     *             "host",
                     *             "user-agent",
                     *             "accept"
                     *           ],
                     *           "host": "gateway.example.com",
                     *           "request_content_length": 212,
                     *           "kind": "request",
                     *           "match": null,
                     *           "caller_id": null,
                     *           "would_refuse": null,
                     *           "units": null,
                     *           "upstream_request_id": "f058ebd6-02f7-4d3f-942e-904344e8cde5",
                     *           "received_at": "2026-03-01T09:30:00.000Z",
                     *           "expires_at": "2026-03-01T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["RequestRecordPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready_or_gateway_overloaded"];
        };
    };
    getRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the request.
                 * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "route": "charges",
                     *         "route_version": "stable",
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "method": "POST",
                     *         "path": "/v1/proxy/charges",
                     *         "status": 201,
                     *         "outcome": "success",
                     *         "error_code": null,
                     *         "error_stage": null,
                     *         "timing": {
                     *           "gateway_ms": 1.9,
                     *           "receiving_ms": 0,
                     *           "waiting_ms": 17.2,
                     *           "upstream_ms": 21.2,
                     *           "sending_ms": 0.1,
                     *           "total_ms": 40.4
                     *         },
                     *         "waits": {
                     *           "key_ms": 0,
                     *           "quota_ms": 0,
                     *           "connection_ms": 0,
                     *           "retry_ms": 17.2
                     *         },
                     *         "upstream": {
                     *           "id": "ups_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "url": "https://payments.internal:8443",
                     *           "region": "eu-west"
                     *         },
                     *         "retry_count": 0,
                     *         "attempts": [
                     *           {
                     *             "upstream": "ups_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "region": "eu-west",
                     *             "started_ms": 1.2,
                     *             "duration_ms": 38.4,
                     *             "status": 201,
                     *             "error": "connect_refused",
                     *             "retry": {
                     *               "retried": true,
                     *               "why": "nothing_sent"
                     *             }
                     *           }
                     *         ],
                     *         "rate_limit": {
                     *           "limit": 1000,
                     *           "remaining": 999,
                     *           "reset_seconds": 42
                     *         },
                     *         "idempotency": null,
                     *         "token_id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "subject": null,
                     *         "claims": null,
                     *         "client_ip": "203.0.113.7",
                     *         "client_request_id": null,
                     *         "request_bytes": 212,
                     *         "response_bytes": 96,
                     *         "data_plane": "dp-7f9c-1",
                     *         "config_version": 42,
                     *         "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
                     *         "header_names": [
                     *           "host",
                     *           "user-agent",
                     *           "accept"
                     *         ],
                     *         "host": "gateway.example.com",
                     *         "request_content_length": 212,
                     *         "kind": "request",
                     *         "match": null,
                     *         "caller_id": null,
                     *         "would_refuse": null,
                     *         "units": null,
                     *         "upstream_request_id": "f058ebd6-02f7-4d3f-942e-904344e8cde5",
                     *         "received_at": "2026-03-01T09:30:00.000Z",
                     *         "expires_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["RequestRecord"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["request_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    listRoutes: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only routes of this name.
                 * @example charges
                 */
                name?: string;
                /**
                 * @description Only items whose name contains this text. Upper and lower case are the same. Empty: every route.
                 * @example charge
                 */
                search?: string;
                /**
                 * @description Only routes that use this service.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                service_id?: string;
                /**
                 * @description Only routes with this status.
                 * @example disabled
                 */
                status?: "active" | "disabled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "environment": "production",
                     *           "name": "charges",
                     *           "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "versions": null,
                     *           "status": "active",
                     *           "timeout_ms": 10000,
                     *           "retry_count": 2,
                     *           "methods": [
                     *             "GET",
                     *             "POST"
                     *           ],
                     *           "auth": {
                     *             "type": "token"
                     *           },
                     *           "rate_limit": {
                     *             "limit": 1000,
                     *             "window_seconds": 60,
                     *             "per": "token",
                     *             "on_store_unavailable": "share"
                     *           },
                     *           "retry": {
                     *             "on_statuses": [
                     *               502,
                     *               503,
                     *               504
                     *             ],
                     *             "per_attempt_timeout_ms": 2000,
                     *             "backoff_ms": 25,
                     *             "unsafe_methods": "never"
                     *           },
                     *           "idempotency": {
                     *             "mode": "store",
                     *             "required": false,
                     *             "on_unknown": "refuse",
                     *             "repeatable_statuses": [
                     *               425,
                     *               429,
                     *               503
                     *             ]
                     *           },
                     *           "regions": [
                     *             "eu-west",
                     *             "us-east"
                     *           ],
                     *           "max_body_bytes": 10485760,
                     *           "allow_encoded_control_characters": false,
                     *           "access_log": {
                     *             "enabled": true,
                     *             "sample_ratio": 0.1
                     *           },
                     *           "revision": 3,
                     *           "created_at": "2026-03-01T09:30:00.000Z",
                     *           "updated_at": "2026-03-01T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["RoutePage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    createRoute: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "charges",
                 *       "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                 *       "timeout_ms": 5000,
                 *       "retry_count": 1
                 *     }
                 */
                "application/json": components["schemas"]["RouteCreate"];
            };
        };
        responses: {
            /** @description The new resource. */
            201: {
                headers: {
                    etag: components["headers"]["etag"];
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    location: components["headers"]["location"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "name": "charges",
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "versions": null,
                     *         "status": "active",
                     *         "timeout_ms": 10000,
                     *         "retry_count": 2,
                     *         "methods": [
                     *           "GET",
                     *           "POST"
                     *         ],
                     *         "auth": {
                     *           "type": "token"
                     *         },
                     *         "rate_limit": {
                     *           "limit": 1000,
                     *           "window_seconds": 60,
                     *           "per": "token",
                     *           "on_store_unavailable": "share"
                     *         },
                     *         "retry": {
                     *           "on_statuses": [
                     *             502,
                     *             503,
                     *             504
                     *           ],
                     *           "per_attempt_timeout_ms": 2000,
                     *           "backoff_ms": 25,
                     *           "unsafe_methods": "never"
                     *         },
                     *         "idempotency": {
                     *           "mode": "store",
                     *           "required": false,
                     *           "on_unknown": "refuse",
                     *           "repeatable_statuses": [
                     *             425,
                     *             429,
                     *             503
                     *           ]
                     *         },
                     *         "regions": [
                     *           "eu-west",
                     *           "us-east"
                     *         ],
                     *         "max_body_bytes": 10485760,
                     *         "allow_encoded_control_characters": false,
                     *         "access_log": {
                     *           "enabled": true,
                     *           "sample_ratio": 0.1
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Route"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress_or_name_conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getRoute: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you have. If it is still right, the answer is 304 without a body.
                 * @example "3-3p6t8w0x"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the route.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "name": "charges",
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "versions": null,
                     *         "status": "active",
                     *         "timeout_ms": 10000,
                     *         "retry_count": 2,
                     *         "methods": [
                     *           "GET",
                     *           "POST"
                     *         ],
                     *         "auth": {
                     *           "type": "token"
                     *         },
                     *         "rate_limit": {
                     *           "limit": 1000,
                     *           "window_seconds": 60,
                     *           "per": "token",
                     *           "on_store_unavailable": "share"
                     *         },
                     *         "retry": {
                     *           "on_statuses": [
                     *             502,
                     *             503,
                     *             504
                     *           ],
                     *           "per_attempt_timeout_ms": 2000,
                     *           "backoff_ms": 25,
                     *           "unsafe_methods": "never"
                     *         },
                     *         "idempotency": {
                     *           "mode": "store",
                     *           "required": false,
                     *           "on_unknown": "refuse",
                     *           "repeatable_statuses": [
                     *             425,
                     *             429,
                     *             503
                     *           ]
                     *         },
                     *         "regions": [
                     *           "eu-west",
                     *           "us-east"
                     *         ],
                     *         "max_body_bytes": 10485760,
                     *         "allow_encoded_control_characters": false,
                     *         "access_log": {
                     *           "enabled": true,
                     *           "sample_ratio": 0.1
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Route"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description The resource is still the one that `If-None-Match` names. */
            304: {
                headers: {
                    etag: components["headers"]["etag"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["route_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    putRoute: {
        parameters: {
            query?: {
                /**
                 * @description The environment of the route. It may be left out if the token covers only one.
                 * @example production
                 */
                environment?: string;
            };
            header?: {
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `*` only creates: if the resource exists, nothing is changed and the answer is 412.
                 * @example *
                 */
                "If-None-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The name of the route.
                 * @example charges
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                 *       "timeout_ms": 5000,
                 *       "retry_count": 1
                 *     }
                 */
                "application/json": components["schemas"]["RouteReplace"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "name": "charges",
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "versions": null,
                     *         "status": "active",
                     *         "timeout_ms": 10000,
                     *         "retry_count": 2,
                     *         "methods": [
                     *           "GET",
                     *           "POST"
                     *         ],
                     *         "auth": {
                     *           "type": "token"
                     *         },
                     *         "rate_limit": {
                     *           "limit": 1000,
                     *           "window_seconds": 60,
                     *           "per": "token",
                     *           "on_store_unavailable": "share"
                     *         },
                     *         "retry": {
                     *           "on_statuses": [
                     *             502,
                     *             503,
                     *             504
                     *           ],
                     *           "per_attempt_timeout_ms": 2000,
                     *           "backoff_ms": 25,
                     *           "unsafe_methods": "never"
                     *         },
                     *         "idempotency": {
                     *           "mode": "store",
                     *           "required": false,
                     *           "on_unknown": "refuse",
                     *           "repeatable_statuses": [
                     *             425,
                     *             429,
                     *             503
                     *           ]
                     *         },
                     *         "regions": [
                     *           "eu-west",
                     *           "us-east"
                     *         ],
                     *         "max_body_bytes": 10485760,
                     *         "allow_encoded_control_characters": false,
                     *         "access_log": {
                     *           "enabled": true,
                     *           "sample_ratio": 0.1
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Route"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description The new resource. */
            201: {
                headers: {
                    etag: components["headers"]["etag"];
                    location: components["headers"]["location"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "name": "charges",
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "versions": null,
                     *         "status": "active",
                     *         "timeout_ms": 10000,
                     *         "retry_count": 2,
                     *         "methods": [
                     *           "GET",
                     *           "POST"
                     *         ],
                     *         "auth": {
                     *           "type": "token"
                     *         },
                     *         "rate_limit": {
                     *           "limit": 1000,
                     *           "window_seconds": 60,
                     *           "per": "token",
                     *           "on_store_unavailable": "share"
                     *         },
                     *         "retry": {
                     *           "on_statuses": [
                     *             502,
                     *             503,
                     *             504
                     *           ],
                     *           "per_attempt_timeout_ms": 2000,
                     *           "backoff_ms": 25,
                     *           "unsafe_methods": "never"
                     *         },
                     *         "idempotency": {
                     *           "mode": "store",
                     *           "required": false,
                     *           "on_unknown": "refuse",
                     *           "repeatable_statuses": [
                     *             425,
                     *             429,
                     *             503
                     *           ]
                     *         },
                     *         "regions": [
                     *           "eu-west",
                     *           "us-east"
                     *         ],
                     *         "max_body_bytes": 10485760,
                     *         "allow_encoded_control_characters": false,
                     *         "access_log": {
                     *           "enabled": true,
                     *           "sample_ratio": 0.1
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Route"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description Done, and the token lacks `routes:read`. The response has no body. */
            204: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    deleteRoute: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the route.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["route_not_found"];
            405: components["responses"]["method_not_allowed"];
            412: components["responses"]["precondition_failed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    updateRoute: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the route.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "timeout_ms": 5000,
                 *       "rate_limit": {
                 *         "limit": 1000
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["RouteUpdate"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "rte_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "name": "charges",
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "versions": null,
                     *         "status": "active",
                     *         "timeout_ms": 10000,
                     *         "retry_count": 2,
                     *         "methods": [
                     *           "GET",
                     *           "POST"
                     *         ],
                     *         "auth": {
                     *           "type": "token"
                     *         },
                     *         "rate_limit": {
                     *           "limit": 1000,
                     *           "window_seconds": 60,
                     *           "per": "token",
                     *           "on_store_unavailable": "share"
                     *         },
                     *         "retry": {
                     *           "on_statuses": [
                     *             502,
                     *             503,
                     *             504
                     *           ],
                     *           "per_attempt_timeout_ms": 2000,
                     *           "backoff_ms": 25,
                     *           "unsafe_methods": "never"
                     *         },
                     *         "idempotency": {
                     *           "mode": "store",
                     *           "required": false,
                     *           "on_unknown": "refuse",
                     *           "repeatable_statuses": [
                     *             425,
                     *             429,
                     *             503
                     *           ]
                     *         },
                     *         "regions": [
                     *           "eu-west",
                     *           "us-east"
                     *         ],
                     *         "max_body_bytes": 10485760,
                     *         "allow_encoded_control_characters": false,
                     *         "access_log": {
                     *           "enabled": true,
                     *           "sample_ratio": 0.1
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Route"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description Done, and the token lacks `routes:read`. The response has no body. */
            204: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["route_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["in_use_or_name_conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    explainRequest: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the route.
                 * @example rte_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "method": "POST",
                 *       "path": "/17",
                 *       "headers": {
                 *         "Idempotency-Key": "order-17"
                 *       },
                 *       "body": "{\"amount\":1250}",
                 *       "token_id": "tok_01kb5zv4x8n3m6q9r2t7w0y1z4",
                 *       "client_ip": "203.0.113.7"
                 *     }
                 */
                "application/json": components["schemas"]["ExplainQuestion"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "data_plane": "data-plane-1",
                     *         "region": "eu-west",
                     *         "environment": "production",
                     *         "config_version": 42,
                     *         "route_id": "rte_01kb5zv4x8n3m6q9r2t7w0y1z4",
                     *         "outcome": {
                     *           "decision": "refuse",
                     *           "stage": "quota",
                     *           "status": 429,
                     *           "code": "rate_limit_exceeded",
                     *           "reason": "The quota of the route orders is used up: 60000 requests in 60 seconds.",
                     *           "retry_after_seconds": 17
                     *         },
                     *         "stages": [
                     *           {
                     *             "name": "authenticate",
                     *             "decision": "continue",
                     *             "reason": "The token tok_01kb5zv4x8n3m6q9r2t7w0y1z4 is valid, and comes in Authorization."
                     *           }
                     *         ],
                     *         "authentication": {
                     *           "type": "token",
                     *           "token_id": "tok_01kb5zv4x8n3m6q9r2t7w0y1z4",
                     *           "refused_by": "token_expired",
                     *           "failures_remaining": 600
                     *         },
                     *         "version": {
                     *           "name": "v2",
                     *           "service_id": "svc_01kb5zv4x8n3m6q9r2t7w0y1z4",
                     *           "service": "orders"
                     *         },
                     *         "quota": {
                     *           "limit": 60000,
                     *           "window_seconds": 60,
                     *           "per": "route",
                     *           "granted": 1200,
                     *           "leased": 180,
                     *           "remaining": 58979,
                     *           "reset_seconds": 17
                     *         },
                     *         "idempotency": {
                     *           "state": "stored",
                     *           "first_request_id": "req_01kb5zv4x8n3m6q9r2t7w0y1z4"
                     *         },
                     *         "upstreams": [
                     *           {
                     *             "id": "ups_01kb5zv4x8n3m6q9r2t7w0y1z4",
                     *             "url": "https://orders.internal",
                     *             "region": "eu-west",
                     *             "health": "healthy",
                     *             "in_flight": 3,
                     *             "weight": 1,
                     *             "picked_first": true,
                     *             "reason": "Healthy, in the region eu-west of this data plane. Picked first."
                     *           }
                     *         ],
                     *         "retry_policy": "No retries: retry_count is 0.",
                     *         "timeouts": {
                     *           "timeout_ms": 10000,
                     *           "per_attempt_timeout_ms": 2000,
                     *           "connect_timeout_ms": 2000,
                     *           "body_idle_timeout_ms": 60000
                     *         },
                     *         "request_headers": [
                     *           "cdn-loop",
                     *           "host",
                     *           "traceparent"
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Explanation"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["route_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["data_plane_unavailable_or_gateway_not_ready"];
        };
    };
    listServices: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Only the service of this name.
                 * @example payments
                 */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "environment": "production",
                     *           "url": "https://payments.internal:8443",
                     *           "status": "healthy",
                     *           "name": "payments",
                     *           "health_path": "/healthz",
                     *           "health_check": {
                     *             "path": "/healthz",
                     *             "interval_ms": 5000,
                     *             "timeout_ms": 2000,
                     *             "healthy_threshold": 2,
                     *             "unhealthy_threshold": 3
                     *           },
                     *           "limits": {
                     *             "max_in_flight": 200,
                     *             "max_connections": 64,
                     *             "max_pending": 100,
                     *             "adaptive": false
                     *           },
                     *           "send_via": false,
                     *           "upstreams": [
                     *             {
                     *               "url": "https://payments.internal:8443",
                     *               "region": "eu-west",
                     *               "weight": 1
                     *             }
                     *           ],
                     *           "credential": {
                     *             "type": "bearer",
                     *             "header": "authorization",
                     *             "set_at": "2026-03-01T09:30:00.000Z"
                     *           },
                     *           "tls": {
                     *             "ca_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *             "server_name": "payments.example",
                     *             "client_certificate": {
                     *               "cert_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *               "set_at": "2026-03-01T09:30:00.000Z"
                     *             }
                     *           },
                     *           "revision": 3,
                     *           "created_at": "2026-03-01T09:30:00.000Z",
                     *           "updated_at": "2026-03-01T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["ServicePage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    createService: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "payments",
                 *       "environment": "production",
                 *       "url": "https://payments.internal:8443"
                 *     }
                 */
                "application/json": components["schemas"]["ServiceCreate"];
            };
        };
        responses: {
            /** @description The new resource. */
            201: {
                headers: {
                    etag: components["headers"]["etag"];
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    location: components["headers"]["location"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "url": "https://payments.internal:8443",
                     *         "status": "healthy",
                     *         "name": "payments",
                     *         "health_path": "/healthz",
                     *         "health_check": {
                     *           "path": "/healthz",
                     *           "interval_ms": 5000,
                     *           "timeout_ms": 2000,
                     *           "healthy_threshold": 2,
                     *           "unhealthy_threshold": 3
                     *         },
                     *         "limits": {
                     *           "max_in_flight": 200,
                     *           "max_connections": 64,
                     *           "max_pending": 100,
                     *           "adaptive": false
                     *         },
                     *         "send_via": false,
                     *         "upstreams": [
                     *           {
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu-west",
                     *             "weight": 1
                     *           }
                     *         ],
                     *         "credential": {
                     *           "type": "bearer",
                     *           "header": "authorization",
                     *           "set_at": "2026-03-01T09:30:00.000Z"
                     *         },
                     *         "tls": {
                     *           "ca_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *           "server_name": "payments.example",
                     *           "client_certificate": {
                     *             "cert_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *             "set_at": "2026-03-01T09:30:00.000Z"
                     *           }
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Service"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress_or_name_conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getService: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you have. If it is still right, the answer is 304 without a body.
                 * @example "3-3p6t8w0x"
                 */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The id of the service.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "url": "https://payments.internal:8443",
                     *         "status": "healthy",
                     *         "name": "payments",
                     *         "health_path": "/healthz",
                     *         "health_check": {
                     *           "path": "/healthz",
                     *           "interval_ms": 5000,
                     *           "timeout_ms": 2000,
                     *           "healthy_threshold": 2,
                     *           "unhealthy_threshold": 3
                     *         },
                     *         "limits": {
                     *           "max_in_flight": 200,
                     *           "max_connections": 64,
                     *           "max_pending": 100,
                     *           "adaptive": false
                     *         },
                     *         "send_via": false,
                     *         "upstreams": [
                     *           {
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu-west",
                     *             "weight": 1
                     *           }
                     *         ],
                     *         "credential": {
                     *           "type": "bearer",
                     *           "header": "authorization",
                     *           "set_at": "2026-03-01T09:30:00.000Z"
                     *         },
                     *         "tls": {
                     *           "ca_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *           "server_name": "payments.example",
                     *           "client_certificate": {
                     *             "cert_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *             "set_at": "2026-03-01T09:30:00.000Z"
                     *           }
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Service"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description The resource is still the one that `If-None-Match` names. */
            304: {
                headers: {
                    etag: components["headers"]["etag"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["service_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    putService: {
        parameters: {
            query?: {
                /**
                 * @description The environment of the service. It may be left out if the token covers only one.
                 * @example production
                 */
                environment?: string;
            };
            header?: {
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `*` only creates: if the resource exists, nothing is changed and the answer is 412.
                 * @example *
                 */
                "If-None-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The name of the service.
                 * @example payments
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://payments.internal:8443",
                 *       "health_path": "/ready"
                 *     }
                 */
                "application/json": components["schemas"]["ServiceReplace"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "url": "https://payments.internal:8443",
                     *         "status": "healthy",
                     *         "name": "payments",
                     *         "health_path": "/healthz",
                     *         "health_check": {
                     *           "path": "/healthz",
                     *           "interval_ms": 5000,
                     *           "timeout_ms": 2000,
                     *           "healthy_threshold": 2,
                     *           "unhealthy_threshold": 3
                     *         },
                     *         "limits": {
                     *           "max_in_flight": 200,
                     *           "max_connections": 64,
                     *           "max_pending": 100,
                     *           "adaptive": false
                     *         },
                     *         "send_via": false,
                     *         "upstreams": [
                     *           {
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu-west",
                     *             "weight": 1
                     *           }
                     *         ],
                     *         "credential": {
                     *           "type": "bearer",
                     *           "header": "authorization",
                     *           "set_at": "2026-03-01T09:30:00.000Z"
                     *         },
                     *         "tls": {
                     *           "ca_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *           "server_name": "payments.example",
                     *           "client_certificate": {
                     *             "cert_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *             "set_at": "2026-03-01T09:30:00.000Z"
                     *           }
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Service"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description The new resource. */
            201: {
                headers: {
                    etag: components["headers"]["etag"];
                    location: components["headers"]["location"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "url": "https://payments.internal:8443",
                     *         "status": "healthy",
                     *         "name": "payments",
                     *         "health_path": "/healthz",
                     *         "health_check": {
                     *           "path": "/healthz",
                     *           "interval_ms": 5000,
                     *           "timeout_ms": 2000,
                     *           "healthy_threshold": 2,
                     *           "unhealthy_threshold": 3
                     *         },
                     *         "limits": {
                     *           "max_in_flight": 200,
                     *           "max_connections": 64,
                     *           "max_pending": 100,
                     *           "adaptive": false
                     *         },
                     *         "send_via": false,
                     *         "upstreams": [
                     *           {
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu-west",
                     *             "weight": 1
                     *           }
                     *         ],
                     *         "credential": {
                     *           "type": "bearer",
                     *           "header": "authorization",
                     *           "set_at": "2026-03-01T09:30:00.000Z"
                     *         },
                     *         "tls": {
                     *           "ca_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *           "server_name": "payments.example",
                     *           "client_certificate": {
                     *             "cert_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *             "set_at": "2026-03-01T09:30:00.000Z"
                     *           }
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Service"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description Done, and the token lacks `services:read`. The response has no body. */
            204: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["environment_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    deleteService: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the service.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["service_not_found"];
            405: components["responses"]["method_not_allowed"];
            409: components["responses"]["service_in_use"];
            412: components["responses"]["precondition_failed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    updateService: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The ETag that you read. If the resource has changed since, or another one has taken its name, nothing is changed and the answer is 412.
                 * @example "3-3p6t8w0x"
                 */
                "If-Match"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the service.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "health_path": "/ready",
                 *       "limits": {
                 *         "max_in_flight": 200
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ServiceUpdate"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "environment": "production",
                     *         "url": "https://payments.internal:8443",
                     *         "status": "healthy",
                     *         "name": "payments",
                     *         "health_path": "/healthz",
                     *         "health_check": {
                     *           "path": "/healthz",
                     *           "interval_ms": 5000,
                     *           "timeout_ms": 2000,
                     *           "healthy_threshold": 2,
                     *           "unhealthy_threshold": 3
                     *         },
                     *         "limits": {
                     *           "max_in_flight": 200,
                     *           "max_connections": 64,
                     *           "max_pending": 100,
                     *           "adaptive": false
                     *         },
                     *         "send_via": false,
                     *         "upstreams": [
                     *           {
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu-west",
                     *             "weight": 1
                     *           }
                     *         ],
                     *         "credential": {
                     *           "type": "bearer",
                     *           "header": "authorization",
                     *           "set_at": "2026-03-01T09:30:00.000Z"
                     *         },
                     *         "tls": {
                     *           "ca_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *           "server_name": "payments.example",
                     *           "client_certificate": {
                     *             "cert_pem": "-----BEGIN CERTIFICATE-----\nMIIB…\n-----END CERTIFICATE-----",
                     *             "set_at": "2026-03-01T09:30:00.000Z"
                     *           }
                     *         },
                     *         "revision": 3,
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Service"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            /** @description Done, and the token lacks `services:read`. The response has no body. */
            204: {
                headers: {
                    etag: components["headers"]["etag"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["service_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["name_conflict"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getServiceHealth: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the service.
                 * @example svc_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "service_id": "svc_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "status": "healthy",
                     *         "overloaded_on": [
                     *           "dp-1"
                     *         ],
                     *         "upstreams": [
                     *           {
                     *             "id": "ups_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *             "url": "https://payments.internal:8443",
                     *             "region": "eu",
                     *             "status": "healthy",
                     *             "regions": [
                     *               {
                     *                 "region": "eu",
                     *                 "healthy": 2,
                     *                 "failing": 2,
                     *                 "unknown": 2
                     *               }
                     *             ],
                     *             "data_planes": [
                     *               {
                     *                 "data_plane": "dp-1",
                     *                 "region": "eu",
                     *                 "status": "healthy",
                     *                 "since": "2026-03-01T12:00:00.000Z",
                     *                 "reason": "5 of 5 requests failed, the last with status_503",
                     *                 "last_seen_at": "2026-03-01T09:30:00.000Z"
                     *               }
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["ServiceHealth"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["service_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getStatistics: {
        parameters: {
            query?: {
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description The begin of the period, rounded down to a minute. Default: an hour before `to`. Statistics are kept for 30 days.
                 * @example 2026-03-01T09:00:00Z
                 */
                from?: string;
                /**
                 * @description Only requests that ended like this.
                 * @example timeout
                 */
                outcome?: "success" | "upstream_error" | "upstream_unavailable" | "timeout" | "rejected" | "client_aborted";
                /**
                 * @description Only requests to the route of this name.
                 * @example charges
                 */
                route?: string;
                /**
                 * @description Only requests to this service.
                 * @example svc_01k2tm8v4zj5r7c9e1g3p6t8w0
                 */
                service_id?: string;
                /**
                 * @description Only requests whose status is of this class. `none`: the caller left before a response.
                 * @example 5xx
                 */
                status_class?: "1xx" | "2xx" | "3xx" | "4xx" | "5xx" | "none";
                /**
                 * @description The length of the steps, which are aligned to the clock in UTC. A period may have 120 of them. Default: no steps.
                 * @example 15m
                 */
                step?: "1m" | "15m" | "1h" | "6h" | "1d";
                /**
                 * @description The end of the period, rounded up to a minute. Default: now.
                 * @example 2026-03-01T10:00:00Z
                 */
                to?: string;
                /**
                 * @description Only requests to the version of this name.
                 * @example v2
                 */
                version?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "from": "2026-03-01T09:00:00Z",
                     *         "to": "2026-03-01T10:00:00Z",
                     *         "total": {
                     *           "requests": 1200,
                     *           "errors": 3,
                     *           "p50_ms": 42.3,
                     *           "p95_ms": 42.3,
                     *           "p99_ms": 42.3
                     *         },
                     *         "steps": [
                     *           {
                     *             "at": "2026-03-01T09:00:00Z",
                     *             "requests": 1200,
                     *             "errors": 3,
                     *             "p50_ms": 42.3,
                     *             "p95_ms": 42.3,
                     *             "p99_ms": 42.3
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Statistics"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready_or_gateway_overloaded"];
        };
    };
    listRouteStatistics: {
        parameters: {
            query?: {
                /**
                 * @description Only items of this environment.
                 * @example production
                 */
                environment?: string;
                /**
                 * @description The begin of the period, rounded down to a minute. Default: an hour before `to`. Statistics are kept for 30 days.
                 * @example 2026-03-01T09:00:00Z
                 */
                from?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
                /**
                 * @description Which routes come first: those with the most of this. `p95_ms` compares the 1000 routes with the most requests.
                 * @example errors
                 */
                order?: "requests" | "errors" | "p95_ms";
                /**
                 * @description The end of the period, rounded up to a minute. Default: now.
                 * @example 2026-03-01T10:00:00Z
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "from": "2026-03-01T09:00:00Z",
                     *         "to": "2026-03-01T10:00:00Z",
                     *         "routes": [
                     *           {
                     *             "environment": "production",
                     *             "route": "charges",
                     *             "requests": 1200,
                     *             "errors": 3,
                     *             "p50_ms": 42.3,
                     *             "p95_ms": 42.3,
                     *             "p99_ms": 42.3
                     *           }
                     *         ]
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["RouteStatistics"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready_or_gateway_overloaded"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /**
                 * @description Where the page begins: `next_cursor` of the page before. Without it the list begins.
                 * @example WyJyb3V0ZXMiLCJydGVfMDFrMm04djR6ajVyN2M5ZTFnM3A2dDh3MHgiXQ
                 */
                cursor?: string;
                /**
                 * @description The maximum number of items in a page.
                 * @example 50
                 */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": [
                     *         {
                     *           "id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "name": "billing",
                     *           "environments": [
                     *             "production"
                     *           ],
                     *           "routes": [
                     *             "charges"
                     *           ],
                     *           "scopes": [
                     *             "proxy"
                     *           ],
                     *           "expires_at": "2027-01-31T12:00:00.000Z",
                     *           "created_by": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *           "created_at": "2026-03-01T09:30:00.000Z",
                     *           "updated_at": "2026-03-01T09:30:00.000Z",
                     *           "last_used_at": "2026-03-01T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null,
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": components["schemas"]["TokenPage"];
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "billing",
                 *       "environments": [
                 *         "production"
                 *       ],
                 *       "routes": [
                 *         "charges"
                 *       ],
                 *       "scopes": [
                 *         "proxy"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["TokenCreate"];
            };
        };
        responses: {
            /** @description The new resource. */
            201: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    location: components["headers"]["location"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "billing",
                     *         "environments": [
                     *           "production"
                     *         ],
                     *         "routes": [
                     *           "charges"
                     *         ],
                     *         "scopes": [
                     *           "proxy"
                     *         ],
                     *         "expires_at": "2027-01-31T12:00:00.000Z",
                     *         "created_by": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z",
                     *         "last_used_at": "2026-03-01T09:30:00.000Z",
                     *         "secret": "gwt_3fG7…"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["TokenWithSecret"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress_or_idempotency_secret_gone_or_name_conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id of the token.
                 * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "billing",
                     *         "environments": [
                     *           "production"
                     *         ],
                     *         "routes": [
                     *           "charges"
                     *         ],
                     *         "scopes": [
                     *           "proxy"
                     *         ],
                     *         "expires_at": "2027-01-31T12:00:00.000Z",
                     *         "created_by": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z",
                     *         "last_used_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Token"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["token_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the token.
                 * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["token_not_found"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    updateToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the token.
                 * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "billing-2"
                 *     }
                 */
                "application/json": components["schemas"]["TokenUpdate"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "billing",
                     *         "environments": [
                     *           "production"
                     *         ],
                     *         "routes": [
                     *           "charges"
                     *         ],
                     *         "scopes": [
                     *           "proxy"
                     *         ],
                     *         "expires_at": "2027-01-31T12:00:00.000Z",
                     *         "created_by": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z",
                     *         "last_used_at": "2026-03-01T09:30:00.000Z"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Token"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["token_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["name_conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            501: components["responses"]["resource_unreadable"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    rotateToken: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A value of your choice, new for each call. A retry with the same key and the same body gets the response of the first call, which runs only once. Keys are kept for 24 hours for each token.
                 * @example 5b1c6f0e-1c5e-4b0f-9f4a-2a6a3b7a8f10
                 */
                "Idempotency-Key"?: string;
                /**
                 * @description `wait=N`: the response comes when every live data plane serves the change, or after N seconds, at most 20.
                 * @example wait=5
                 */
                Prefer?: string;
            };
            path: {
                /**
                 * @description The id of the token.
                 * @example tok_01k2m8v4zj5r7c9e1g3p6t8w0x
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "grace_seconds": 3600
                 *     }
                 */
                "application/json": components["schemas"]["TokenRotate"];
            };
        };
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "idempotent-replayed": components["headers"]["idempotent-replayed"];
                    "preference-applied": components["headers"]["preference-applied"];
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-gateway-wait": components["headers"]["x-gateway-wait"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "billing",
                     *         "environments": [
                     *           "production"
                     *         ],
                     *         "routes": [
                     *           "charges"
                     *         ],
                     *         "scopes": [
                     *           "proxy"
                     *         ],
                     *         "expires_at": "2027-01-31T12:00:00.000Z",
                     *         "created_by": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z",
                     *         "last_used_at": "2026-03-01T09:30:00.000Z",
                     *         "secret": "gwt_3fG7…"
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["TokenWithSecret"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            404: components["responses"]["token_not_found"];
            405: components["responses"]["method_not_allowed"];
            408: components["responses"]["request_timeout"];
            409: components["responses"]["idempotency_conflict_or_idempotency_in_progress_or_idempotency_secret_gone"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
    getCaller: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "x-gateway-latency": components["headers"]["x-gateway-latency"];
                    "x-ratelimit-limit": components["headers"]["x-ratelimit-limit"];
                    "x-ratelimit-remaining": components["headers"]["x-ratelimit-remaining"];
                    "x-ratelimit-reset": components["headers"]["x-ratelimit-reset"];
                    "x-request-id": components["headers"]["x-request-id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "data": {
                     *         "id": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "name": "billing",
                     *         "environments": [
                     *           "production"
                     *         ],
                     *         "routes": [
                     *           "charges"
                     *         ],
                     *         "scopes": [
                     *           "proxy"
                     *         ],
                     *         "expires_at": "2027-01-31T12:00:00.000Z",
                     *         "created_by": "tok_01k2m8v4zj5r7c9e1g3p6t8w0x",
                     *         "created_at": "2026-03-01T09:30:00.000Z",
                     *         "updated_at": "2026-03-01T09:30:00.000Z",
                     *         "last_used_at": "2026-03-01T09:30:00.000Z",
                     *         "effective_scopes": [
                     *           "config:write",
                     *           "config:read",
                     *           "audit:read"
                     *         ],
                     *         "secret_expires_at": null
                     *       },
                     *       "request_id": "req_01k2m8v4zj5r7c9e1g3p6t8w0x"
                     *     }
                     */
                    "application/json": {
                        data: components["schemas"]["Caller"];
                        /**
                         * @description The id of the request, as in the header `X-Request-Id`.
                         * @example req_01k2m8v4zj5r7c9e1g3p6t8w0x
                         */
                        request_id: string;
                    };
                };
            };
            400: components["responses"]["invalid_request"];
            401: components["responses"]["authentication_failed"];
            405: components["responses"]["method_not_allowed"];
            429: components["responses"]["rate_limit_exceeded"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["gateway_not_ready"];
        };
    };
}
