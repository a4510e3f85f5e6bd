# Sourced with a prefix: what activation does to a shell.
export CONDA_PREFIX=$1 CONDA_SHLVL=1 MAMBA_EXE=/bin/micromamba
if [ "$CONDA_PREFIX" = "$MAMBA_ROOT_PREFIX" ]; then
    export CONDA_DEFAULT_ENV=base
else
    export CONDA_DEFAULT_ENV=${CONDA_PREFIX##*/}
fi
export CONDA_PROMPT_MODIFIER="($CONDA_DEFAULT_ENV) "
export PATH=$CONDA_PREFIX/bin:$MAMBA_ROOT_PREFIX/condabin:$PATH
for script in "$CONDA_PREFIX"/etc/conda/activate.d/*.sh; do
    [ -f "$script" ] && . "$script"
done
shift
