#!/bin/bash
# As in the official image: activates $ENV_NAME, then becomes the command.
set -ef -o pipefail
if [ "${MAMBA_SKIP_ACTIVATE-}" != 1 ]; then
    prefix=$MAMBA_ROOT_PREFIX
    [ "$ENV_NAME" = base ] || prefix=$MAMBA_ROOT_PREFIX/envs/$ENV_NAME
    . /usr/libexec/micromamba/activate.sh "$prefix" "$@"
fi
exec "$@"
